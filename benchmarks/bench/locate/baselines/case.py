"""What a baseline is given: term counts of files and report, and what happened before the report was opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netmend.locate.postings import Postings
from netmend.locate.words import term_number

Scores = NDArray[np.float64]
Terms = Mapping[str, int]


@dataclass(frozen=True)
class Before:
    """A report of the same project that was closed and fixed before."""

    terms: Terms
    files: frozenset[int]  # numbers of candidates that its fix changed
    changed: int  # files its fix changed, candidates or not
    time: float  # when it was closed


@dataclass(frozen=True)
class Commit:
    time: float
    subject: str
    files: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One report and the candidates it is searched in."""

    body: Postings
    classes: Postings
    structure: tuple[Postings, ...]  # class names, function names, variables, comments
    title: Terms
    description: Terms
    before: tuple[Before, ...]
    commits: tuple[Commit, ...]  # all before `opened`
    frames: tuple[int, ...]  # candidates in the report's stack traces, the deepest first
    imported: frozenset[int]  # candidates that those import
    opened: float

    @property
    def size(self) -> int:
        return self.body.size

    @property
    def text(self) -> dict[str, int]:
        """Title and description together."""
        joined = dict(self.description)
        for term, count in self.title.items():
            joined[term] = joined.get(term, 0) + count
        return joined


def numbers(terms: Terms) -> tuple[NDArray[np.uint32], Scores]:
    """The terms as the index knows them, and how often each is asked."""
    return np.array([term_number(term) for term in terms], np.uint32), np.array(list(terms.values()), float)


def spread(scores: Scores) -> Scores:
    """Smallest to 0, largest to 1; all 0 where they are equal."""
    if not len(scores) or scores.max() <= scores.min():
        return np.zeros(len(scores))
    return np.asarray((scores - scores.min()) / (scores.max() - scores.min()))
