"""What the history says before a word of the report is read, and which commits speak of the same thing."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query

_DAY = 86_400.0
_FIX = 1.5  # a fix tells more about where faults are than another change


def days_before(query: Query, corpus: Corpus) -> Floats:
    """Days between each commit and the report."""
    now = query.opened if query.opened is not None else time.time()
    return np.maximum(now - corpus.history.times, 0.0) / _DAY


def told_commit(corpus: Corpus, commit: int | None, lead: str, kind: str = "change") -> list[Reason]:
    if commit is None:
        return []
    day = time.strftime("%Y-%m-%d", time.gmtime(corpus.history.times[commit]))
    subject = corpus.history.subjects[commit]
    shown = subject if len(subject) <= 80 else subject[:79] + "…"
    return [Reason(kind, f"{lead} {corpus.history.hashes[commit][:9]} of {day}: {shown}")]


def told_best(corpus: Corpus, row: int, worth: Floats, lead: str, kind: str = "change") -> list[Reason]:
    """Of the commits that touched a file the one that is worth most; nothing where none is worth anything."""
    touching = corpus.history.commit_of[corpus.history.files == row]
    if not len(touching):
        return []
    best = int(touching[np.argmax(worth[touching])])
    return told_commit(corpus, best if worth[best] > 0 else None, lead, kind)


@dataclass(frozen=True)
class Recency:
    """Recent changes, fixes more; a commit of many files says less about each."""

    days: float
    only_fixes: bool = False

    @property
    def name(self) -> str:
        return f"{'fixed' if self.only_fixes else 'changed'}_{self.days:.0f}"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        weight = np.exp(-days_before(query, corpus) / self.days) / np.sqrt(np.maximum(history.sizes, 1.0))
        weight *= history.fixes if self.only_fixes else np.where(history.fixes, _FIX, 1.0)
        weight *= history.telling
        return sum_by_row(history.files, weight[history.commit_of], corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_commit(corpus, corpus.history.latest(row), "changed lately by")


@dataclass(frozen=True)
class Churn:
    """How many commits touched the file."""

    name: str = "churn"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        kept = history.files[history.telling[history.commit_of]]
        return np.asarray(np.log1p(np.bincount(kept, minlength=corpus.size).astype(float)))

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []


@dataclass(frozen=True)
class Age:
    """How new the file is, or how lately it was changed: 1 now, 1/2 after so many days."""

    name: str
    days: float
    first: bool  # since the first change, which is its birth unless the history is cut

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        ages = days_before(query, corpus)[history.commit_of]
        days = np.full(corpus.size, -np.inf if self.first else np.inf)
        (np.maximum if self.first else np.minimum).at(days, history.files, ages)
        return np.where(np.isfinite(days), 1.0 / (1.0 + np.abs(days) / self.days), 0.0)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []
