"""Evidence in words: how much of the report's text a file's text, passages and quoted strings share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.parsing import Field, shingles, squeeze
from netmend.locate.postings import Floats, Postings, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.signal import Untold
from netmend.locate.words import telling, term_numbers

# BM25: how well the words of a query fit the words of a row, rare words counting more and long rows less.

SATURATION = 1.2
LATE_SATURATION = 2.5  # where rows are whole texts: a word said often there does tell more
BY_LENGTH = 0.5
_DAMPING = 0.75  # power of how often a report says a word
_MOST_TERMS = 150  # of a query in a large index; those that decide most are kept
_LARGE = 2_000  # rows


@dataclass(frozen=True)
class Occurrences:
    """Where terms of a query occur, and how much each occurrence adds to its row."""

    terms: list[str]
    which: npt.NDArray[np.int64]  # number of the term
    rows: npt.NDArray[np.int64]
    amounts: Floats

    def best_terms(self, row: int) -> list[str]:
        """The terms that add most to a row, best first."""
        here = np.flatnonzero(self.rows == row)
        here = here[np.argsort(-self.amounts[here], kind="stable")]
        return list(dict.fromkeys(self.terms[int(self.which[one])] for one in here))


def bm25(
    postings: Postings,
    bag: Mapping[str, float],
    by_length: float = BY_LENGTH,
    saturation: float = SATURATION,
    raw: bool = False,
) -> Floats:
    """The score of each row.

    What a report says ten times is not ten times as important, and words that most reports hold say little in any of
    them; `raw` leaves both aside.
    """
    found = occurrences(postings, bag, by_length, saturation, raw)
    return sum_by_row(found.rows, found.amounts, postings.size)


def occurrences(
    postings: Postings,
    bag: Mapping[str, float],
    by_length: float = BY_LENGTH,
    saturation: float = SATURATION,
    raw: bool = False,
) -> Occurrences:
    terms = list(bag)
    numbers = term_numbers(terms)
    frequency = postings.frequency(numbers)
    wanted = np.fromiter(bag.values(), dtype=float, count=len(bag))
    if not raw:
        wanted = wanted**_DAMPING * np.fromiter(map(telling, terms), dtype=float, count=len(terms))
    weights = wanted * rarity(frequency, postings.size)
    kept = np.flatnonzero(weights > 0)
    if postings.size > _LARGE and len(kept) > _MOST_TERMS:
        kept = kept[np.argsort(-weights[kept], kind="stable")[:_MOST_TERMS]]
    terms, numbers, weights = [terms[one] for one in kept], numbers[kept], weights[kept]
    found = postings.find(numbers)
    average = postings.lengths.mean() if postings.size else 0.0
    norm = saturation * (1.0 - by_length + by_length * postings.lengths / (average or 1.0))
    amounts = weights[found.which] * found.counts * (saturation + 1.0) / (found.counts + norm[found.rows])
    return Occurrences(terms, found.which, found.rows, amounts)


def rarity(frequency: npt.NDArray[np.int64], size: int) -> Floats:
    """BM25's weight of a term that so many rows hold; 0 for one that none holds."""
    weight = np.log1p((size - frequency + 0.5) / (frequency + 0.5))
    return np.asarray(np.where(frequency > 0, weight, 0.0))


# Words that the report shares with a field of the file.

_SHOWN = 6  # words in a reason
# How much long rows are held back: a long file has more to be wrong, a long path has not.
_BY_LENGTH = {Field.PATH: 0.3, Field.BASENAME: 0.3, Field.CLASSES: 0.3, Field.FUNCTIONS: 0.4}
_FRAGMENT = 2  # letters: `re` and `lr` say nothing to a reader
_CONTRACTED = frozenset(
    ["don", "doesn", "didn", "isn", "wasn", "won", "couldn", "wouldn", "shouldn", "aren", "haven", "hasn"]
)
_PLACE = {
    Field.PATH: "in its path",
    Field.BASENAME: "in its name",
    Field.SUBJECTS: "in messages of its commits",
    Field.CLASSES: "in names of classes",
    Field.FUNCTIONS: "in names of functions",
    Field.VARIABLES: "in names of variables and parameters",
    Field.COMMENTS: "in comments and docstrings",
    Field.STRINGS: "in strings",
    Field.CALLS: "in calls",
    Field.IMPORTED: "in imports",
    Field.BODY: "in the file",
}


def part_of(query: Query, part: str) -> Mapping[str, float]:
    """The words of a part of the report: title, prose, code, or all (weighted)."""
    if part == "all":
        return query.weighted
    words: Mapping[str, float] = {"title": query.title, "prose": query.prose, "code": query.code}[part]
    return words


@dataclass(frozen=True)
class Lexical:
    """Words of one part of the report in one field."""

    field: Field
    part: str
    by_length: float | None = None
    raw: bool = False  # repeated words count each time
    variant: str = ""

    @property
    def name(self) -> str:
        return f"{self.field.value}_{self.part}{self.variant}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        bag = part_of(query, self.part)
        return bm25(corpus.fields[self.field], bag, self._by_length, self._saturation, self.raw)

    @property
    def _by_length(self) -> float:
        return self.by_length if self.by_length is not None else _BY_LENGTH.get(self.field, BY_LENGTH)

    @property
    def _saturation(self) -> float:
        late = self.field is Field.BODY and self.part == "all" and not self.raw
        return LATE_SATURATION if late else SATURATION

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        bag = part_of(query, self.part)
        found = occurrences(corpus.fields[self.field], bag, self._by_length, self._saturation)
        told = shown_words(query.shown.get(term, term) for term in found.best_terms(row))
        return [Reason("words", f"{', '.join(told)} {_PLACE[self.field]}", words=told)] if told else []


def shown_words(words: Iterable[str]) -> tuple[str, ...]:
    """Words that tell a reader something, each once."""
    kept = (word for word in dict.fromkeys(words) if len(word) > _FRAGMENT and word not in _CONTRACTED)
    return tuple(kept)[:_SHOWN]


# Words that the report shares with single functions: in a long file the whole drowns what one function says.


@dataclass(frozen=True)
class BestPassages(Untold):
    """The sum over the functions of the file that fit best; the functions themselves are shown."""

    part: str
    most: int = 1

    @property
    def name(self) -> str:
        return f"passage_{self.part}" + (f"_top{self.most}" if self.most > 1 else "")

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        fit = bm25(corpus.passages, part_of(query, self.part))
        total = np.zeros(corpus.size)
        if self.most == 1:
            np.maximum.at(total, corpus.passage_files, fit)
            return total
        order = np.lexsort((-fit, corpus.passage_files))
        owners = corpus.passage_files[order]
        # Place of each passage among those of its file, best first.
        new = np.concatenate(([True], owners[1:] != owners[:-1])) if len(owners) else np.empty(0, bool)
        firsts = np.flatnonzero(new)
        place = np.arange(len(owners)) - np.repeat(firsts, np.diff(np.append(firsts, len(owners))))
        kept = place < self.most
        np.add.at(total, owners[kept], fit[order][kept])
        return total


# Pieces of the file that the report quotes: messages that the file can print, lines of its code.


@dataclass(frozen=True)
class Quoted:
    """Exact pieces that occur in the file, rare ones counting more."""

    name: str
    field: Field
    part: str  # messages | text | lines

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        numbers = term_numbers(self._pieces(query))
        frequency = corpus.fields[self.field].frequency(numbers)
        weights = rarity(frequency, corpus.size) / np.sqrt(np.maximum(frequency, 1))
        found = corpus.fields[self.field].find(numbers)
        return sum_by_row(found.rows, weights[found.which], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        pieces = self._pieces(query)
        found = corpus.fields[self.field].find(term_numbers(pieces))
        here = [pieces[int(one)] for one in found.which[found.rows == row]]
        if not here:
            return []
        if self.field is Field.LINES:
            lines = f"{len(here)} line{'s' if len(here) > 1 else ''}"
            return [Reason("line", f"holds {lines} of code that the report shows")]
        return [Reason("message", f"holds a string like “{_joined(here)}”")]

    def _pieces(self, query: Query) -> list[str]:
        report = query.report
        if self.part == "messages":
            texts = [report.title, *(failure.message for failure in report.failures)]
            return list(dict.fromkeys(piece for text in texts for piece in shingles(text)))
        if self.part == "text":
            return list(dict.fromkeys(shingles(report.text)))
        shown = [line for block in report.code for line in block.split("\n")]
        shown += [frame.code for trace in report.traces for frame in trace]
        return list(dict.fromkeys(filter(None, map(squeeze, shown))))


def _joined(pieces: list[str]) -> str:
    """The longest run of words that overlapping pieces make."""
    runs: list[list[str]] = []
    for piece in pieces:
        parts = piece.split()
        if runs and runs[-1][-2:] == parts[:-1]:
            runs[-1].append(parts[-1])
        else:
            runs.append(parts)
    return " ".join(max(runs, key=len)[:15])
