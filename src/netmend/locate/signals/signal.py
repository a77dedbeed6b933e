"""What a signal is: a number for each file that speaks for it, and the evidence behind that number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import Query


class Signal(Protocol):
    """Speaks for files from the report and the repository alone."""

    @property
    def name(self) -> str: ...

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        """For each file, 0 where nothing speaks for it (priors may be negative)."""
        ...

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        """Why a file was given its score, in words; none where it was given none."""
        ...


class Spreading(Protocol):
    """Speaks for files because of what a first ranking says about others."""

    @property
    def name(self) -> str: ...

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats: ...

    def reasons(self, query: Query, corpus: Corpus, first: Floats, row: int) -> list[Reason]: ...


class Untold:
    """A signal that counts without being told."""

    def reasons(self, *asked: object) -> list[Reason]:
        return []


def best_of(rows: Iterable[tuple[int, float]], size: int) -> Floats:
    """The largest number that each row is given."""
    best = np.zeros(size)
    for row, worth in rows:
        best[row] = max(best[row], worth)
    return best
