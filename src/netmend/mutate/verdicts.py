"""Is a mutant killed? Scores of original and mutant over the same seeds in, a verdict out.

Killed means: worse by a test at `alpha` (`comparison.py` says which, and why), and by at least half a standard deviation (Cohen's d).
Direction is part of the verdict: a mutant that is significantly better is not killed. A score that is not a number counts as worse than
every number, in mutants and originals alike.

Errors have no upper end: of five mutants one that diverges to 1e30 would be all that mean and spread see, and hide that the other four are worse
as well. So an error x counts as x / (x + m), where m is the middle one of all: near m that is as good as linear, and nothing is worse than 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netmend.errors import UsageError
from netmend.mutate import comparison
from netmend.mutate.comparison import STABLE, t_power
from netmend.vocabulary.table import FloatArray

MOST_EFFECT = 99.0  # a difference without any spread has no size; this stands for it
LEAST_EFFECT = 0.5  # Cohen's "medium", the limit of published studies of mutation testing
CLEAR_POWER = 0.9  # of a kill that other seeds would hardly reverse
UNCLEAR = 0.2  # a survivor with a lower p-value is not clearly one
_FAR = 3.0  # times the spread of all scores beyond the worst one: where a score that is not a number is put

# Reasons.
WORSE = "worse"
BETTER = "better"
NO_DIFFERENCE = "no difference"
SMALL = "worse, but by too little"  # significant, with an effect below the least one
TOO_FEW = "too few runs"
CRASH = "crash"
NOT_A_NUMBER = "not a number"  # no mutant has a score, all originals have
CONSTANT = "the measure is constant"

# What a test set makes of a mutant that counts; also classes of the style sheet.
DETECTED, MISSED, INCONCLUSIVE = "detected", "missed", "inconclusive"


@dataclass(frozen=True)
class Verdict:
    """Original against mutant on one test set."""

    killed: bool
    p_value: float  # one-sided: the mutant is worse
    effect_size: float  # Cohen's d; above 0: the mutant is worse; at most MOST_EFFECT
    power: float  # of this test at the effect seen, with as many runs, at `alpha`
    better: bool  # the mutant is significantly better instead
    runs: int  # pairs; in two groups: runs of the smaller one
    reason: str

    @property
    def stable(self) -> bool:
        return self.power >= STABLE

    @property
    def is_clear(self) -> bool:
        """Whether other seeds would hardly say otherwise: a kill with enough power, a survivor that shows no sign of being worse."""
        if self.killed:
            return self.power >= CLEAR_POWER
        return self.p_value >= UNCLEAR or self.effect_size < LEAST_EFFECT


def scores_verdict(
    original: Sequence[float],
    mutant: Sequence[float],
    *,
    higher_is_better: bool,
    paired: bool = True,
    alpha: float = 0.05,
    least_effect: float = LEAST_EFFECT,
) -> Verdict:
    """One score per run. Paired: the scores at one position come from runs of the same seed."""
    check_level(alpha)
    runs = _runs(original, mutant, paired)
    if runs < 2:
        return Verdict(False, 1.0, 0.0, 0.0, False, runs, TOO_FEW)
    old, new = errors(original, mutant, higher_is_better)
    if comparison.resolution(old, new) == 0:
        return Verdict(False, 1.0, 0.0, alpha, False, runs, CONSTANT)
    compared = comparison.paired(old, new) if paired else comparison.groups(old, new)
    effect = cohen(old, new)
    worse, better = compared.worse <= alpha, compared.better <= alpha
    killed = worse and effect >= least_effect
    if killed:
        reason = WORSE if np.isfinite(np.asarray(mutant, dtype=float)).any() else NOT_A_NUMBER
    else:
        reason = SMALL if worse else BETTER if better else NO_DIFFERENCE
    power = t_power(compared.statistic, compared.freedom, alpha)
    return Verdict(killed, compared.worse, effect, power, better, runs, reason)


def crash_verdict(runs: int) -> Verdict:
    """Every training of the mutant ended with an error, none of the original did: no statistics are needed."""
    return Verdict(True, 0.0, MOST_EFFECT, 1.0, False, runs, CRASH)


def errors(
    original: Sequence[float], mutant: Sequence[float], higher_is_better: bool
) -> tuple[FloatArray, FloatArray]:
    """Both lists with lower being better and every value finite."""
    sign = -1.0 if higher_is_better else 1.0
    old, new = sign * np.asarray(original, dtype=float), sign * np.asarray(mutant, dtype=float)
    known = np.concatenate([old, new])
    known = known[np.isfinite(known)]
    if not np.isfinite(old).any():
        raise UsageError(
            f"None of the {len(old)} scores of the original program is a number, so nothing can be worse. "
            "Repair the program or its measure first: `netmend run` tells what is wrong."
        )
    spread = float(known.max() - known.min()) or abs(float(known.max())) or 1.0
    worst = float(known.max()) + _FAR * spread
    if not higher_is_better and known.min() >= 0:
        level = _level(known)
        with np.errstate(invalid="ignore"):  # infinities, which are put at the end below
            old, new, worst = old / (old + level), new / (new + level), 1.0
    return np.where(np.isfinite(old), old, worst), np.where(np.isfinite(new), new, worst)


def _level(scores: FloatArray) -> float:
    """The error that is put at one half, between 0 at 0 and 1 at infinity: the middle one of all that are positive."""
    positive = scores[scores > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def cohen(old: FloatArray, new: FloatArray) -> float:
    """Cohen's d with the pooled deviation; above 0: the second list is higher, that is, worse."""
    gap = float(new.mean() - old.mean())
    freedom = len(old) + len(new) - 2
    if gap == 0 or freedom < 1:
        return 0.0
    pooled = (old.var(ddof=1) * (len(old) - 1) + new.var(ddof=1) * (len(new) - 1)) / freedom
    deviation = math.sqrt(float(pooled))
    if deviation * MOST_EFFECT <= abs(gap):
        return math.copysign(MOST_EFFECT, gap)
    return gap / deviation


def check_level(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, got {alpha:g}; 0.05 is usual.")


def _runs(original: Sequence[float], mutant: Sequence[float], paired: bool) -> int:
    if paired and len(original) != len(mutant):
        raise UsageError(
            f"Paired scores need as many runs on both sides, got {len(original)} of the original and {len(mutant)} of the "
            "mutant. Give the scores of the seeds that both have, or pass paired=False."
        )
    return min(len(original), len(mutant))
