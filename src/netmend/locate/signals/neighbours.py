"""Files near those that rank first: in the same folder, connected by imports, usually changed together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats, sum_by_row
from netmend.locate.query import Query

_LEADING = 10  # files of the first ranking that speak for others


@dataclass(frozen=True)
class SameFolder:
    """The mean of the three best others of the folder: whole folders are about one subject."""

    name: str = "same_folder"

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        folders = corpus.folders
        order = np.lexsort((-first, folders))
        result = np.zeros(corpus.size)
        ends = np.flatnonzero(np.diff(folders[order])) + 1
        for group in np.split(order, ends):
            best = group[:4]
            total = first[best[:3]].sum()
            result[group] = total / 3.0
            for row in best[:3]:  # a file must not speak for itself
                result[row] = (first[best].sum() - first[row]) / 3.0
        return result

    def reasons(self, query: Query, corpus: Corpus, first: Floats, row: int) -> list[Reason]:
        return []


@dataclass(frozen=True)
class Imports:
    """The mean of the first ranking over files that this one imports, or that import it."""

    name: str
    outwards: bool  # over what it imports

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        graph = corpus.imports
        here, there = (
            (graph.importing, graph.imported) if self.outwards else (graph.imported, graph.importing)
        )
        total = sum_by_row(here, first[there], corpus.size)
        number = np.bincount(here, minlength=corpus.size)
        return np.asarray(total / np.sqrt(np.maximum(number, 1.0)))

    def reasons(self, query: Query, corpus: Corpus, first: Floats, row: int) -> list[Reason]:
        graph = corpus.imports
        if self.outwards:
            return []
        by = graph.importing[graph.imported == row]
        leading = [one for one in by if first[one] >= _floor(first)]
        if not leading:
            return []
        best = max(leading, key=lambda one: first[one])
        return [Reason("import", f"imported by {corpus.paths[best]}, which also ranks high")]


@dataclass(frozen=True)
class ChangedTogether:
    """How often the file changed when the leading ones did."""

    name: str = "changed_together"

    def scores(self, query: Query, corpus: Corpus, first: Floats) -> Floats:
        if not corpus.history.size or not corpus.size:
            return np.zeros(corpus.size)
        touched = corpus.history.touched(corpus.size)
        leading = np.argsort(-first, kind="stable")[:_LEADING]
        together = (touched[:, leading].T @ touched).toarray()  # leading files by files
        own = together[np.arange(len(leading)), leading].copy()
        together[np.arange(len(leading)), leading] = 0.0
        # Two more in the denominator: once out of once is no habit.
        return np.asarray(first[leading] @ (together / (own + 2.0)[:, None]))

    def reasons(self, query: Query, corpus: Corpus, first: Floats, row: int) -> list[Reason]:
        return []


def _floor(first: Floats) -> float:
    """The score of the last of the leading files."""
    return float(np.sort(first)[-min(_LEADING, len(first))]) if len(first) else 0.0


SPREADING = (SameFolder(), Imports("imports", True), Imports("imported", False), ChangedTogether())
