"""Commits that speak of the same thing as the report speak for the files that they touched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.bm25 import bm25
from netmend.locate.signals.changes import days_before, told_best
from netmend.locate.signals.lexical import part_of

_HALF_LIFE = 365.0  # days


@dataclass(frozen=True)
class SimilarCommits:
    part: str = "all"
    messages: bool = False  # whole messages instead of subjects
    best: bool = False  # only the commit that fits best counts

    @property
    def name(self) -> str:
        return (
            f"similar_{'messages' if self.messages else 'commits'}_{self.part}{'_best' if self.best else ''}"
        )

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        fit = self._fit(query, corpus)[history.commit_of]
        if self.best:
            top = np.zeros(corpus.size)
            np.maximum.at(top, history.files, fit)
            return top
        # Squared: ten commits that share one common word must not outweigh one that speaks of the same thing.
        return np.sqrt(sum_by_row(history.files, fit**2, corpus.size))

    def _fit(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        fit = bm25(history.messages if self.messages else history.words, part_of(query, self.part))
        fading = 0.3 + 0.7 * 0.5 ** (days_before(query, corpus) / _HALF_LIFE)
        return np.asarray(fit * fading / np.sqrt(np.maximum(history.sizes, 1.0)) * history.telling)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_best(corpus, row, self._fit(query, corpus), "related commit (may already be the fix):")
