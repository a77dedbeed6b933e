"""A corpus as one file of arrays that is mapped into memory: a question reads only the pages that it needs."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from netmend.locate.cache import FORMAT as FACTS_FORMAT
from netmend.locate.change_history import ChangeHistory
from netmend.locate.corpus import Corpus
from netmend.locate.facts import Field
from netmend.locate.import_graph import ImportGraph
from netmend.locate.postings import Postings
from netmend.locate.repository import SourceFile

_MARK = b"netmend corpus 3\n"
_ALIGNED = 64
_KEPT = 3  # saved corpora in a folder; the latest used stay
_POSTINGS = ("terms", "starts", "rows", "counts", "lengths")
_HISTORY = ("times", "fixes", "sizes", "starts", "files", "numbers", "numbered")


def corpus_key(files: Sequence[SourceFile], head: str | None, before: float | None, limit: int) -> str:
    """The same for the same files and history, so that nothing stale is ever read."""
    told = hashlib.sha256(f"{FACTS_FORMAT}\n{head}\n{before}\n{limit}\n".encode())
    for file in files:
        told.update(f"{file.path}\0{file.blob}\0".encode("utf-8", "surrogatepass"))
    return told.hexdigest()[:32]


def save_corpus(corpus: Corpus, folder: Path, key: str) -> None:
    """Write a corpus beside the facts; where that fails, the next question builds it again."""
    arrays = dict(_arrays(corpus))
    places, position = {}, 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, len(array), position)
        position += -(-array.nbytes // _ALIGNED) * _ALIGNED
    head = {"arrays": places, "paths": corpus.paths, "blobs": corpus.blobs}
    head |= {"hashes": corpus.history.hashes, "subjects": corpus.history.subjects}
    plain = json.dumps(head).encode("ascii")
    with suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(prefix="corpus-", suffix=".new", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_MARK + f"{len(plain):16d}\n".encode() + plain)
                start = -(-file.tell() // _ALIGNED) * _ALIGNED
                for name, array in arrays.items():
                    file.seek(start + places[name][2])
                    file.write(np.ascontiguousarray(array).data)
                file.truncate(start + position)
            Path(temporary).replace(folder / f"corpus-{key}")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
        _drop_old(folder)


def load_corpus(folder: Path, key: str) -> Corpus | None:
    """A saved corpus, or None where there is none that can be read."""
    file = folder / f"corpus-{key}"
    try:
        with file.open("rb") as opened:
            if opened.read(len(_MARK)) != _MARK:
                return None
            head = json.loads(opened.read(int(opened.read(17))))
            start = -(-opened.tell() // _ALIGNED) * _ALIGNED
        data = np.asarray(np.memmap(file, mode="r"))  # a plain view: slices of memmap objects are slow
        arrays = {
            name: data[start + place : start + place + length * np.dtype(kind).itemsize].view(kind)
            for name, (kind, length, place) in head["arrays"].items()
        }
        if any(len(arrays[name]) != length for name, (_, length, _) in head["arrays"].items()):
            return None
        with suppress(OSError):
            os.utime(file)
        return _corpus(head, arrays)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _arrays(corpus: Corpus) -> Iterable[tuple[str, npt.NDArray[Any]]]:
    inner = {f"field.{field.value}": postings for field, postings in corpus.fields.items()}
    for name, postings in {
        **inner,
        "passages": corpus.passages,
        "words": corpus.history.words,
        "messages": corpus.history.messages,
    }.items():
        yield from ((f"{name}.{part}", getattr(postings, part)) for part in _POSTINGS)
    yield "passage_files", corpus.passage_files
    yield "lines", corpus.lines
    yield "parsed", corpus.parsed
    yield "cut", corpus.cut
    history = corpus.history
    for part in _HISTORY:
        yield f"history.{part}", getattr(history, part)
    yield "importing", corpus.imports.importing
    yield "imported", corpus.imports.imported


def _corpus(head: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Corpus:
    def postings(name: str) -> Postings:
        return Postings(*(arrays[f"{name}.{part}"] for part in _POSTINGS))

    history = ChangeHistory(
        tuple(head["hashes"]),
        tuple(head["subjects"]),
        **{part: arrays[f"history.{part}"] for part in _HISTORY},
        words=postings("words"),
        messages=postings("messages"),
    )
    return Corpus(
        paths=tuple(head["paths"]),
        blobs=tuple(head["blobs"]),
        fields={field: postings(f"field.{field.value}") for field in Field},
        passages=postings("passages"),
        passage_files=arrays["passage_files"],
        lines=arrays["lines"],
        parsed=arrays["parsed"],
        cut=arrays["cut"],
        history=history,
        imports=ImportGraph(arrays["importing"], arrays["imported"]),
    )


def _drop_old(folder: Path) -> None:
    saved = sorted(folder.glob("corpus-*"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in saved[_KEPT:]:
        file.unlink(missing_ok=True)
