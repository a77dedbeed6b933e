"""Which document holds which words, and how that is packed for the disk."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.locate.parsing import CONTENT_FIELDS, Definition, FileFacts
from netmend.locate.words import term_numbers

# Facts as bytes: sorted term numbers and counts of all content fields in one piece, so that thousands load at once.
#
# Words of definitions ("passages") are kept as numbers only: they are searched, never shown.

_MOST = 65_535  # counts are kept in 16 bits


@dataclass(frozen=True)
class PackedFacts:
    """One content's facts as they are stored. `definitions` are opened only for files that are shown."""

    sizes: bytes  # entries of each content field, 32 bits each
    terms: bytes  # 32 bits each, sorted inside a field
    counts: bytes  # 16 bits each
    passages: bytes  # entries of each function, method and head of a class, 32 bits each
    passage_terms: bytes
    passage_counts: bytes
    imports: str  # one per line
    lines: int
    parsed: bool
    cut: bool
    definitions: bytes


def pack(facts: FileFacts) -> PackedFacts:
    sizes, all_terms, all_counts = [], [], []
    for field in CONTENT_FIELDS:
        terms, counts = _numbers(facts.fields.get(field, {}))
        sizes.append(len(terms))
        all_terms.append(terms)
        all_counts.append(counts)
    passages = [_numbers(definition.words) for definition in facts.definitions if definition.words]
    definitions = [[d.name, d.kind, d.line, d.end] for d in facts.definitions]
    return PackedFacts(
        sizes=np.array(sizes, dtype="<u4").tobytes(),
        terms=np.concatenate(all_terms).tobytes(),
        counts=np.concatenate(all_counts).tobytes(),
        passages=np.array([len(terms) for terms, _ in passages], dtype="<u4").tobytes(),
        passage_terms=b"".join(terms.tobytes() for terms, _ in passages),
        passage_counts=b"".join(counts.tobytes() for _, counts in passages),
        imports="\n".join(facts.imports),
        definitions=zlib.compress(json.dumps(definitions, separators=(",", ":")).encode(), 1),
        lines=facts.lines,
        parsed=facts.parsed,
        cut=facts.cut,
    )


def unpacked_definitions(packed: bytes) -> tuple[Definition, ...]:
    return tuple(Definition(*entry) for entry in json.loads(zlib.decompress(packed)))


def _numbers(counts: Mapping[str, int]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]:
    if not counts:
        return np.empty(0, "<u4"), np.empty(0, "<u2")
    terms = term_numbers(counts).astype("<u4")
    values = np.minimum(np.fromiter(counts.values(), dtype=np.int64, count=len(counts)), _MOST)
    order = np.argsort(terms, kind="stable")
    return terms[order], values[order].astype("<u2")


# An inverted index of one field: for each term the rows that hold it and how often.

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
_PLACE_BITS = 28


@dataclass(frozen=True)
class Found:
    """Occurrences of asked terms: which of the asked terms, in which row, how often."""

    which: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    counts: Floats


@dataclass(frozen=True)
class Postings:
    terms: npt.NDArray[np.uint32]  # different terms, sorted
    starts: npt.NDArray[np.int64]  # one more than terms
    rows: Ints  # sorted inside a term
    counts: npt.NDArray[np.float32]
    lengths: Floats  # sum of counts by row

    @property
    def size(self) -> int:
        return len(self.lengths)

    def find(self, numbers: npt.NDArray[np.uint32]) -> Found:
        """Where the terms of these numbers occur, asked term by asked term."""
        starts, frequency = self._spans(numbers)
        which = np.repeat(np.arange(len(numbers)), frequency)
        # Positions start, start+1, ... of every hit, one after the other, without a loop.
        before = np.cumsum(frequency) - frequency
        places = np.arange(len(which)) + np.repeat(starts - before, frequency)
        return Found(which, self.rows[places].astype(np.int64), self.counts[places].astype(float))

    def frequency(self, numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """How many rows hold each term."""
        return self._spans(numbers)[1]

    def _spans(self, numbers: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if not len(self.terms) or not len(numbers):
            none = np.zeros(len(numbers), np.int64)
            return none, none
        at = np.minimum(np.searchsorted(self.terms, numbers), len(self.terms) - 1)
        hit = self.terms[at] == numbers
        return self.starts[at], np.where(hit, self.starts[at + 1] - self.starts[at], 0)


def sum_by_row(rows: npt.NDArray[np.integer], weights: npt.NDArray[np.floating], size: int) -> Floats:
    """The sum of weights for each row."""
    return np.bincount(rows, weights=weights, minlength=size).astype(np.float64)


def stable_order(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """What argsort(kind="stable") gives, for keys below 2**36, in two thirds of its time.

    Plain sorting uses vector instructions where argsort does not; so the place goes into the low bits of the key.
    """
    if len(keys) >> _PLACE_BITS:
        return np.argsort(keys, kind="stable").astype(np.int64)
    placed = (keys << np.uint64(_PLACE_BITS)) | np.arange(len(keys), dtype=np.uint64)
    placed.sort()
    places = placed & np.uint64((1 << _PLACE_BITS) - 1)
    return np.asarray(places, dtype=np.int64)


def make_postings(
    terms: npt.NDArray[np.uint32], rows: npt.NDArray[np.integer], counts: npt.NDArray[np.generic], size: int
) -> Postings:
    """Postings from occurrences in any order; the same term and row may come several times (counts are added)."""
    order = np.lexsort((rows, terms))
    return make_sorted_postings(terms[order], rows[order], counts[order], size)


def make_sorted_postings(
    terms: npt.NDArray[np.uint32], rows: npt.NDArray[np.integer], counts: npt.NDArray[np.generic], size: int
) -> Postings:
    """Postings from occurrences sorted by term, then row."""
    amounts = counts.astype(np.float32)
    if len(terms):
        new_term = np.concatenate(([True], terms[1:] != terms[:-1]))
        new_pair = new_term | np.concatenate(([True], rows[1:] != rows[:-1]))
        if not new_pair.all():
            firsts = np.flatnonzero(new_pair)
            amounts = np.add.reduceat(amounts, firsts)
            terms, rows, new_term = terms[firsts], rows[firsts], new_term[firsts]
        starts = np.flatnonzero(new_term)
    else:
        starts = np.empty(0, np.int64)
    return Postings(
        terms=terms[starts].astype(np.uint32),
        starts=np.append(starts, len(terms)).astype(np.int64),
        rows=rows.astype(np.int32),
        counts=amounts,
        lengths=sum_by_row(rows, amounts, size),
    )


def rows_of_words(bags: Iterable[dict[int, float]], size: int) -> Postings:
    """Postings from one bag of term numbers for each row."""
    terms: list[int] = []
    rows: list[int] = []
    counts: list[float] = []
    for row, bag in enumerate(bags):
        terms.extend(bag)
        counts.extend(bag.values())
        rows.extend([row] * len(bag))
    return make_postings(np.array(terms, np.uint32), np.array(rows, np.int64), np.array(counts, float), size)
