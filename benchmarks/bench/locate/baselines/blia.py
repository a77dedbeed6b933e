"""BLIA (Youm, Ahn, Lee 2017): structured vector space, similar reports, stack trace, recent commits."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from bench.locate.baselines.case import Case, Scores, spread
from bench.locate.baselines.vector_space import cosine, long_files, similar_reports

_FIX = re.compile(r"bug|fix", re.IGNORECASE)
_DAY = 86_400.0


@dataclass(frozen=True)
class Settings:
    alpha: float
    beta: float
    days: int


SHIPPED = (Settings(0.2, 0.3, 90), Settings(0.2, 0.2, 60), Settings(0.2, 0.0, 15), Settings(0.2, 0.2, 15))


def blia(case: Case, settings: Settings) -> Scores:
    """The authors' order: text first; trace and commits are added only to files that share words with the report."""
    text = spread(structured(case))
    combined = (1 - settings.alpha) * text + settings.alpha * spread(similar_reports(case))
    scores = (1 - settings.beta) * (combined + traced(case)) + settings.beta * recent(case, settings.days)
    return np.where(combined > 0, scores, 0.0)


def structured(case: Case) -> Scores:
    """rVSM of each of four fields against the report, added; a long file counts more."""
    parts = [cosine(field, case.text) for field in case.structure]
    return np.asarray(long_files(case.body.lengths) * np.sum(parts, axis=0))


def traced(case: Case) -> Scores:
    """1/j for the file of the j-th frame from the deepest (0.1 after the tenth), 0.1 for files those import."""
    scores = np.zeros(case.size)
    for number in case.imported:
        scores[number] = 0.1
    for place, number in reversed(list(enumerate(dict.fromkeys(case.frames), 1))):
        scores[number] = 1 / place if place <= 10 else 0.1
    return scores


def recent(case: Case, days: int) -> Scores:
    """Fixing commits of the last days, the newest counting most, for every file they touched."""
    scores = np.zeros(case.size)
    for commit in case.commits:
        age = (case.opened - commit.time) / _DAY
        if 0 <= age <= days and _FIX.search(commit.subject):
            weight = 1 / (1 + np.exp(12 * (1 - (days - age) / days)))
            for number in commit.files:
                scores[number] += weight
    return scores
