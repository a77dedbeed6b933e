"""Power of t-tests: how probably a difference of a given size is found with a given number of runs.

By the noncentral t distribution of the test that was really used (paired, or Welch's for two groups), one-sided. The effect is a
difference of means in standard deviations: of the differences within pairs for the paired test (`paired_power`), of the scores themselves
for two groups (`groups_power`). Cohen's f, which tests on variances use, is half of that for two equal groups; taking one for the other
makes every comparison look stronger than it is.
"""

from __future__ import annotations

import math

from netmend.errors import UsageError

STABLE = 0.8  # a comparison with less power may come out differently next time
_CERTAIN = 35.0  # a noncentrality from which on the power is 1 in double precision, with few runs too


def t_power(noncentrality: float, freedom: float, alpha: float = 0.05) -> float:
    """Of a one-sided t-test: the chance of exceeding its critical value."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, got {alpha:g}; 0.05 is usual.")
    if freedom <= 0 or math.isnan(noncentrality):
        return 0.0
    from scipy.special import nctdtr, stdtrit

    critical = float(stdtrit(freedom, 1 - alpha))
    if noncentrality > max(_CERTAIN, 3 * critical):
        return 1.0
    if noncentrality < -_CERTAIN:
        return 0.0
    return min(1.0, max(0.0, 1.0 - float(nctdtr(freedom, noncentrality, critical))))


def paired_power(effect: float, pairs: int, alpha: float = 0.05) -> float:
    """`effect`: mean of the differences within pairs, in their standard deviations."""
    return t_power(effect * math.sqrt(pairs), pairs - 1, alpha) if pairs > 1 else 0.0


def groups_power(effect: float, first: int, second: int, alpha: float = 0.05) -> float:
    """Two groups of equal spread; `effect`: Cohen's d."""
    if first < 2 or second < 2:
        return 0.0
    return t_power(effect / math.sqrt(1 / first + 1 / second), first + second - 2, alpha)
