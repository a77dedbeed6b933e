"""Paired comparison of two lists of errors: a test, an effect size, an interval. Lower errors are better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from netmend.vocabulary.table import FloatArray

MOST_EFFECT = 99.0  # an effect without any spread has no size; this stands for it
_FAR = 3.0  # times the spread of all errors beyond the worst one: where a training that failed is put


@dataclass(frozen=True)
class Comparison:
    p_value: float  # one-sided: the second list is lower
    effect_size: float  # Cohen's d with the pooled deviation; above 0: the second list is lower
    improvement: float
    interval: tuple[float, float]


def compare(before: list[float], after: list[float]) -> Comparison:
    """Errors of the same seeds on both sides; infinite ones count as worse than all others."""
    old, new = _finite(np.array(before, dtype=float), np.array(after, dtype=float))
    differences = old - new
    return Comparison(
        _signed_rank(differences), _effect(old, new), float(differences.mean()), _interval(differences)
    )


def _finite(old: FloatArray, new: FloatArray) -> tuple[FloatArray, FloatArray]:
    both = np.concatenate([old, new])
    known = both[np.isfinite(both)]
    if not len(known):
        return np.zeros(len(old)), np.zeros(len(new))
    spread = float(known.max() - known.min()) or abs(float(known.max())) or 1.0
    worst = float(known.max()) + _FAR * spread
    return np.where(np.isfinite(old), old, worst), np.where(np.isfinite(new), new, worst)


def _signed_rank(differences: FloatArray) -> float:
    """Wilcoxon's signed-rank test, exact also with ties: all ways of giving signs are counted."""
    from scipy.stats import rankdata

    moved = differences[differences != 0]
    count = len(moved)
    if count == 0:
        return 1.0
    sizes = np.abs(moved)
    ranks = rankdata(np.round(sizes / sizes.max(), 9))  # 0.9 - 0.8 and 0.8 - 0.7 are a tie
    seen = float(ranks[moved > 0].sum())
    if count > 16:
        from scipy.stats import wilcoxon

        return float(wilcoxon(moved, alternative="greater").pvalue)
    return float((_signs(count) @ ranks >= seen - 1e-9).mean())


@cache
def _signs(count: int) -> FloatArray:
    """All ways in which so many differences may be positive (1) or not (0), a row each."""
    return ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(float)


def _effect(old: FloatArray, new: FloatArray) -> float:
    gap = float(old.mean() - new.mean())
    if len(old) < 2 or gap == 0:
        return 0.0
    pooled = math.sqrt((float(old.var(ddof=1)) + float(new.var(ddof=1))) / 2)
    if pooled == 0 or abs(gap) / pooled > MOST_EFFECT:
        return math.copysign(MOST_EFFECT, gap)
    return gap / pooled


def _interval(differences: FloatArray) -> tuple[float, float]:
    """95 % for the mean difference, by Student's t."""
    from scipy.stats import t

    mean, count = float(differences.mean()), len(differences)
    if count < 2:
        return mean, mean
    half = float(t.ppf(0.975, count - 1)) * float(differences.std(ddof=1)) / math.sqrt(count)
    return mean - half, mean + half
