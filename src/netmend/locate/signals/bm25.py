"""BM25: how well the words of a query fit the words of a row, rare words counting more and long rows less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.locate.postings import Floats, Postings, sum_by_row
from netmend.locate.report_words import telling
from netmend.locate.words import term_number

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
    numbers = np.fromiter(map(term_number, terms), dtype=np.uint32, count=len(terms))
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
