"""Evidence in paths and names: files that the report names whole, by folder, by the names they define, by parts of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.parsing import Field
from netmend.locate.postings import Floats, make_postings, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.signal import Untold
from netmend.locate.signals.texts import bm25, part_of
from netmend.locate.words import term_numbers

# Which file of the repository a printed path means: paths of other machines, installed packages, bare names.

_INSTALLED = re.compile(r".*(?:site-packages|dist-packages)/(?:[^/]+\.egg/)?", re.DOTALL)
_STANDARD = re.compile(r".*/lib(?:64)?/python\d(?:\.\d+)?/", re.DOTALL)


@dataclass(frozen=True)
class PathMatch:
    rows: tuple[int, ...]  # all that fit equally well
    parts: int  # how many parts of the path agree, counted from the end
    whole: bool  # all parts of one of the two paths agree


NO_MATCH = PathMatch((), 0, False)


def match_path(corpus: Corpus, printed: str) -> PathMatch:
    """The files whose paths end most like the printed one."""
    parts, installed = printed_parts(printed.strip().lstrip("./\\"))
    if not parts:
        return NO_MATCH
    best: list[int] = []
    most = 0
    whole = False
    for row in corpus.by_basename.get(parts[-1], ()):
        own = corpus.paths[row].split("/")
        same = same_end(own, parts)
        if installed and same < len(parts):
            continue  # another package's file of the same name
        if same > most:
            best, most, whole = [], same, False
        if same == most:
            best.append(row)
            whole = whole or same == min(len(own), len(parts))
    return PathMatch(tuple(best), most, whole)


def printed_parts(printed: str) -> tuple[list[str], bool]:
    """Folders and name of a printed path, and whether these are of an installed package; nothing for Python's own library."""
    path = printed.replace("\\", "/")
    installed = _INSTALLED.match(path)
    if installed is None and _STANDARD.match(path):
        return [], False
    inner = path[installed.end() :] if installed else path
    return [part for part in inner.split("/") if part], installed is not None


def same_end(one: list[str], other: list[str]) -> int:
    same = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        same += 1
    return same


# Words that the report shares with a whole folder, taken as one text.


@dataclass(frozen=True)
class FolderWords(Untold):
    """Each file is given its folder's fit. `depth` cuts folders to so many parts; 0 takes them whole."""

    part: str
    depth: int = 0

    @property
    def name(self) -> str:
        return f"{'region' if self.depth else 'folder'}_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        folder_of = self._folders(corpus)
        body = corpus.fields[Field.BODY]
        bag = part_of(query, self.part)
        numbers = term_numbers(bag)
        found = body.find(numbers)
        count = int(folder_of.max(initial=-1)) + 1
        joined = make_postings(numbers[found.which], folder_of[found.rows], found.counts, count)
        # The lengths of the folders are those of all their words, not of the asked ones alone.
        whole = replace(joined, lengths=sum_by_row(folder_of, body.lengths, count))
        return bm25(whole, bag)[folder_of]

    def _folders(self, corpus: Corpus) -> npt.NDArray[np.int64]:
        if not self.depth:
            return corpus.folders
        numbers: dict[str, int] = {}
        names = ("/".join(path.split("/")[:-1][: self.depth]) for path in corpus.paths)
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


# Names in the report that the file defines: functions, methods, constants, classes.

_MIXED = re.compile(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]|\d")
_PLAIN = 0.25  # what a plain English word that is also a name counts


@dataclass(frozen=True)
class DefinedNames:
    """Rarely defined names count most: `fit` is defined everywhere, `bias_act` once."""

    field: Field
    part: str  # title | all | called

    @property
    def name(self) -> str:
        return f"{self.field.value}_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        terms = list(self._asked(query))
        numbers, postings = term_numbers(terms), corpus.fields[self.field]
        frequency = postings.frequency(numbers)
        weights = np.log1p(corpus.size / np.maximum(frequency, 1)) / np.sqrt(np.maximum(frequency, 1))
        weights *= np.array([1.0 if _MIXED.search(term) else _PLAIN for term in terms])
        found = postings.find(numbers)
        return sum_by_row(found.rows, weights[found.which], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        terms = list(self._asked(query))
        numbers, postings = term_numbers(terms), corpus.fields[self.field]
        found = postings.find(numbers)
        frequency = postings.frequency(numbers)
        here = sorted({int(one) for one in found.which[found.rows == row]}, key=lambda one: frequency[one])
        told = [terms[one] for one in here if _MIXED.search(terms[one])][:4]
        return [Reason("name", f"defines {', '.join(told)}, which the report names")] if told else []

    def _asked(self, query: Query) -> Mapping[str, int]:
        asked = {"title": query.title_names, "all": query.names, "called": query.called}
        return asked[self.part]


# Names of files and folders that occur as words of the report.

_SHORTEST = 3  # letters; shorter names are words of other things


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


@dataclass(frozen=True)
class FileName(Untold):
    """The file's name without .py is a word of the title or text; shared by the files of that name."""

    part: str  # title | all

    @property
    def name(self) -> str:
        return f"file_name_{self.part}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        said = {_plain(name) for name in (query.title_names if self.part == "title" else query.names)}
        stems = [_plain(path.rsplit("/", 1)[-1].removesuffix(".py")) for path in corpus.paths]
        shared = Counter(stems)
        return np.array([1.0 / shared[s] if len(s) >= _SHORTEST and s in said else 0.0 for s in stems])


@dataclass(frozen=True)
class TitleComponent(Untold):
    """A folder or file of the path is a word of the title, rare ones counting more."""

    name: str = "component_title"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        said = {_plain(name) for name in query.title_names}
        parts = [{_plain(part) for part in path.removesuffix(".py").split("/")} for path in corpus.paths]
        held = Counter(part for some in parts for part in some & said)
        worth = {part: math.log1p(corpus.size / count) for part, count in held.items()}
        return np.array(
            [max((worth[part] for part in some & said), default=0.0) for some in parts], dtype=float
        )
