"""An inverted index of one field: for each term the rows that hold it and how often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
