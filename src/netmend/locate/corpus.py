"""All that is known about a repository at one moment, as arrays: what signals read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from netmend.locate.cache import FactsCache
from netmend.locate.change_history import ChangeHistory, read_history, subjects_by_file
from netmend.locate.facts import CONTENT_FIELDS, EMPTY, Field
from netmend.locate.import_graph import ImportGraph, ModuleNames, link_imports
from netmend.locate.packed import PackedFacts, pack
from netmend.locate.parsing import parse
from netmend.locate.postings import Floats, Ints, Postings, make_sorted_postings, rows_of_words, stable_order
from netmend.locate.repository import Repository, SourceFile
from netmend.locate.words import term_number, words

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
    history_limit: int = HISTORY,
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
    history = read_history(repository, cache, rows, history_before, history_limit)
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
