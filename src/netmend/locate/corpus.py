"""All files of a repository ready to be searched, kept between two questions."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from netmend.locate.cache import FORMAT as FACTS_FORMAT
from netmend.locate.cache import FactsCache
from netmend.locate.change_history import ChangeHistory, read_history, subjects_by_file
from netmend.locate.import_graph import ImportGraph, ModuleNames, link_imports
from netmend.locate.parsing import CONTENT_FIELDS, EMPTY, Field, parse
from netmend.locate.postings import (
    Floats,
    Ints,
    PackedFacts,
    Postings,
    make_sorted_postings,
    pack,
    rows_of_words,
    stable_order,
)
from netmend.locate.repository import Repository, SourceFile
from netmend.locate.words import term_number, words

# All that is known about a repository at one moment, as arrays: what signals read.

HISTORY = 5_000  # commits looked at
_BATCH = 200  # files that are parsed before they are stored
Progress = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


@dataclass(frozen=True)
class Corpus:
    paths: tuple[str, ...]
    blobs: tuple[str, ...]
    fields: Mapping[Field, Postings]  # rows are files
    passages: Postings  # rows are functions, methods and heads of classes
    passage_files: Ints  # the file of each passage
    lines: Floats  # by file
    parsed: npt.NDArray[np.bool_]  # False: read by patterns only
    cut: npt.NDArray[np.bool_]  # only a part of the file was read
    history: ChangeHistory
    imports: ImportGraph
    indexed: int = 0  # files that had to be parsed now

    @property
    def size(self) -> int:
        return len(self.paths)

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self.paths)}

    @cached_property
    def by_basename(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, path in enumerate(self.paths):
            rows.setdefault(path.rsplit("/", 1)[-1], []).append(row)
        return rows

    @cached_property
    def modules(self) -> ModuleNames:
        return ModuleNames(self.paths)

    @cached_property
    def folders(self) -> npt.NDArray[np.int64]:
        """The number of each file's folder."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(path.rpartition("/")[0], len(numbers)) for path in self.paths],
            dtype=np.int64,
        )


def build_corpus(
    repository: Repository,
    files: Sequence[SourceFile],
    cache: FactsCache,
    history_before: float | None = None,
    say: Progress | None = None,
) -> Corpus:
    """The corpus of these files. Commits at or after `history_before` do not exist for it."""
    indexed = index(repository, files, cache, say)
    paths = tuple(file.path for file in files)
    known = cache.facts(file.blob for file in files)
    empty = pack(EMPTY)
    facts = [known.get(file.blob, empty) for file in files]
    fields = _content_fields(facts)
    fields[Field.PATH] = rows_of_words((_numbers(path.removesuffix(".py")) for path in paths), len(paths))
    fields[Field.BASENAME] = rows_of_words((_numbers(_basename(path)) for path in paths), len(paths))
    rows = {path: row for row, path in enumerate(paths)}
    history = read_history(repository, cache, rows, history_before, HISTORY)
    fields[Field.SUBJECTS] = subjects_by_file(history, len(paths))
    passages, passage_files = _passages(facts)
    return Corpus(
        paths=paths,
        blobs=tuple(file.blob for file in files),
        fields=fields,
        passages=passages,
        passage_files=passage_files,
        lines=np.array([one.lines for one in facts], dtype=float),
        parsed=np.array([one.parsed for one in facts], dtype=bool),
        cut=np.array([one.cut for one in facts], dtype=bool),
        history=history,
        imports=link_imports(paths, [one.imports for one in facts]),
        indexed=indexed,
    )


def index(
    repository: Repository, files: Sequence[SourceFile], cache: FactsCache, say: Progress | None = None
) -> int:
    """Parse what is not in the cache yet; how many files that were."""
    missing = cache.missing(file.blob for file in files)
    waiting: list[tuple[str, PackedFacts]] = []
    for number, (blob, content) in enumerate(repository.read(missing) if missing else ()):
        waiting.append((blob, pack(parse(content))))
        if len(waiting) >= _BATCH:
            cache.store(waiting)
            waiting = []
            if say is not None:
                say("reading files", number + 1, len(missing))
    cache.store(waiting)
    return len(missing)


def _content_fields(facts: Sequence[PackedFacts]) -> dict[Field, Postings]:
    n_fields = len(CONTENT_FIELDS)
    sizes = _joined([one.sizes for one in facts], "<u4").reshape(len(facts), n_fields).astype(np.int64)
    terms = _joined([one.terms for one in facts], "<u4")
    counts = _joined([one.counts for one in facts], "<u2")
    owners = np.repeat(np.arange(sizes.size), sizes.ravel())
    of_field, rows = owners % n_fields, owners // n_fields
    # One sort for all fields. Entries come row by row, so a stable sort keeps rows in order inside a term.
    order = stable_order((of_field.astype(np.uint64) << np.uint64(32)) | terms.astype(np.uint64))
    terms, counts, rows = terms[order], counts[order], rows[order]
    ends = np.cumsum(sizes.sum(axis=0))
    made: dict[Field, Postings] = {}
    for number, field in enumerate(CONTENT_FIELDS):
        part = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
        made[field] = make_sorted_postings(terms[part], rows[part], counts[part], len(facts))
    return made


def _passages(facts: Sequence[PackedFacts]) -> tuple[Postings, Ints]:
    sizes = _joined([one.passages for one in facts], "<u4").astype(np.int64)
    terms = _joined([one.passage_terms for one in facts], "<u4")
    counts = _joined([one.passage_counts for one in facts], "<u2")
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = stable_order(terms.astype(np.uint64))
    postings = make_sorted_postings(terms[order], owners[order], counts[order], len(sizes))
    files = np.repeat(np.arange(len(facts)), [len(one.passages) // 4 for one in facts])
    return postings, files.astype(np.int32)


def _joined(pieces: Sequence[bytes], kind: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(b"".join(pieces), dtype=kind)


def _numbers(text: str) -> dict[int, float]:
    counts: dict[int, float] = {}
    for term in words(text):
        number = term_number(term)
        counts[number] = counts.get(number, 0.0) + 1.0
    return counts


def _basename(path: str) -> str:
    """The last part that names something: the folder for a/b/__init__.py."""
    *folders, name = path.removesuffix(".py").split("/")
    return folders[-1] if name == "__init__" and folders else name


# A corpus as one file of arrays that is mapped into memory: a question reads only the pages that it needs.

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
