"""Earlier reports: files that fixes of similar ones changed, and files that were reported often."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from netmend.locate.answer import Reason
from netmend.locate.corpus import Corpus
from netmend.locate.postings import Floats
from netmend.locate.query import EarlierReport, Query
from netmend.locate.report_words import telling


def similarities(query: Query) -> list[tuple[float, EarlierReport]]:
    """The cosine between the report and each earlier one, words weighted by how rare they are in reports."""
    known = query.earlier
    if not known:
        return []
    held = Counter(word for report in known for word in report.words)
    rarity = {word: math.log(1.0 + len(known) / count) for word, count in held.items()}
    asked = {
        word: (1.0 + math.log(amount) if amount > 1 else amount) * rarity[word] * telling(word)
        for word, amount in query.weighted.items()
        if word in rarity
    }
    size = math.sqrt(sum(value * value for value in asked.values())) or 1.0
    found = []
    for report in known:
        weights = {word: (1.0 + math.log(count)) * rarity[word] for word, count in report.words.items()}
        length = math.sqrt(sum(value * value for value in weights.values())) or 1.0
        common = sum(value * weights[word] for word, value in asked.items() if word in weights)
        found.append((common / (size * length), report))
    return found


@dataclass(frozen=True)
class SimilarReports:
    """Files of similar reports; `best`: only the most similar one counts."""

    best: bool = False

    @property
    def name(self) -> str:
        return "similar_report_best" if self.best else "similar_reports"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        for similarity, report in similarities(query):
            for path in report.files:
                row = corpus.row_of.get(path)
                if row is None:
                    continue
                if self.best:
                    total[row] = max(total[row], similarity / math.sqrt(len(report.files)))
                else:
                    total[row] += similarity / len(report.files)
        return total

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        touching = [s for s, report in similarities(query) if corpus.paths[row] in report.files and s > 0.1]
        plural = "s" if len(touching) > 1 else ""
        return (
            [Reason("report", f"fixed for {len(touching)} similar earlier report{plural}")]
            if touching
            else []
        )


@dataclass(frozen=True)
class ReportedOften:
    """Files of earlier reports, whatever they said; with `days`, old ones count less."""

    days: float | None = None

    @property
    def name(self) -> str:
        return "reported_often" if self.days is None else "reported_lately"

    def scores(self, query: Query, corpus: Corpus) -> Floats:
        total = np.zeros(corpus.size)
        now = query.opened if query.opened is not None else time.time()
        for report in query.earlier:
            fading = (
                1.0 if self.days is None else math.exp(-max(now - report.closed, 0.0) / 86_400.0 / self.days)
            )
            for path in report.files:
                row = corpus.row_of.get(path)
                if row is not None:
                    total[row] += fading / len(report.files)
        return total

    def reasons(self, query: Query, corpus: Corpus, row: int) -> list[Reason]:
        return []
