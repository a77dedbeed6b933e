"""Commits that the report names, by their hash or by an issue or pull request, speak for the files that they touched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query
from netmend.locate.signals.changes import told_best

_FURTHER = 0.1  # share of each commit beside the best
_SHORTEST = 7  # digits of a hash


@dataclass(frozen=True)
class Referenced:
    name: str = "referenced"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        history = corpus.history
        worth = self._worth(query, corpus)[history.commit_of]
        best = np.zeros(corpus.size)
        np.maximum.at(best, history.files, worth)
        return (1.0 - _FURTHER) * best + _FURTHER * sum_by_row(history.files, worth, corpus.size)

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return told_best(corpus, row, self._worth(query, corpus), "the report names commit", "commit")

    def _worth(self, query: Query, corpus: Corpus) -> Floats:
        """Of each commit: 0 where it is not named; a commit of many files says less about each."""
        history = corpus.history
        worth = np.zeros(history.size)
        numbers = query.report.references.numbers_of(query.repository)
        worth[history.numbered[np.isin(history.numbers, list(numbers))]] = 1.0
        worth[_with_hashes(query, corpus)] = 1.0
        return np.asarray(worth / np.sqrt(np.maximum(history.sizes, 1.0)) * history.telling)


def _with_hashes(query: Query, corpus: Corpus) -> list[int]:
    """The commits whose hashes the report gives, whole or their beginnings."""
    wanted: dict[str, list[str]] = {}
    for name in query.report.references.hashes:
        wanted.setdefault(name[:_SHORTEST], []).append(name)
    return [
        commit
        for commit, name in enumerate(corpus.history.hashes if wanted else ())
        if name.startswith(tuple(wanted.get(name[:_SHORTEST], ())))
    ]
