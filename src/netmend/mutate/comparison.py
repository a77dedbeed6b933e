"""Are the scores of mutants worse than those of originals? P-values of a few training runs, paired by seed or not, and the power of their tests.

Which test. With n = 3 pairs an exact test on signs or ranks cannot give less than 1/8, with 5 not less than 1/32: it could never kill after
few runs. Student's t can, because it also uses how alike the differences are. What it assumes is checked by simulation
(`benchmarks/mutation_statistics.py`). Skewed scores do no harm: where original and mutant train alike, a pair may as well be exchanged,
so differences are symmetric, and few symmetric differences make t-tests cautious rather than bold. What does harm is coarseness, and three
remedies are taken together:

- *resolution*: an accuracy over 20 inputs moves in steps of 0.05, and three equal differences look as if there were no spread. The square of
  the smallest step that the scores show, over 12 (the variance of rounding), is added to the variance of the differences.
- *floor*: of n originals that all give one value and n mutants that all give another, the chance is at most 4^-n when both come from one
  distribution, whatever it is (each value with chance 1/2). No p-value below that is given.
- *guard*: from 7 pairs on (two groups: from 5 runs on) all exchanges within pairs (all regroupings) can be counted. That p-value is exact for any
  distribution of scores, and the larger one of the two is taken.

The paired test is for runs of the same seeds; its gain is what the seeds explain. Welch's test for two groups does not need equal spreads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from netmend.errors import UsageError
from netmend.vocabulary.table import FloatArray

_SAME = 1e-10  # relative to the largest score: closer ones differ by rounding only
_GUARDS = 0.01  # the exact test is asked where it can give as small a p-value as this
_MOST_COUNTED = 10_000  # beyond, as many exchanges are drawn
_SEED = 20_250


@dataclass(frozen=True)
class Compared:
    """Two lists of scores, lower being better; the second one is the mutant's."""

    worse: float  # p-value, one-sided: the mutant is worse
    better: float  # p-value, one-sided: the mutant is better
    statistic: float  # t; above 0: the mutant is worse
    freedom: float


def paired(original: FloatArray, mutant: FloatArray) -> Compared:
    differences = mutant - original
    count = len(differences)
    largest = max(float(np.abs(original).max()), float(np.abs(mutant).max()))
    if float(np.abs(differences).max()) <= _SAME * largest:
        return Compared(1.0, 1.0, 0.0, count - 1)  # every exchange gives the same
    variance = float(differences.var(ddof=1)) + resolution(original, mutant) ** 2 / 12
    compared = _by_t(float(differences.mean()), variance / count, count - 1, least_p_value(count))
    signs = _signs(count)
    return compared if signs is None else _guarded(compared, signs @ differences)


def groups(original: FloatArray, mutant: FloatArray) -> Compared:
    first, second = len(original), len(mutant)
    rounding = resolution(original, mutant) ** 2 / 24
    shares = ((original.var(ddof=1) + rounding) / first, (mutant.var(ddof=1) + rounding) / second)
    variance = float(sum(shares))
    # Welch's degrees of freedom
    squares = shares[0] ** 2 / (first - 1) + shares[1] ** 2 / (second - 1)
    freedom = variance**2 / float(squares) if variance else 1.0
    compared = _by_t(float(mutant.mean() - original.mean()), variance, freedom, least_p_value(first, second))
    chosen = _regroupings(first, second)
    if chosen is None:
        return compared
    both = np.concatenate([original, mutant])
    sums = both[chosen].sum(axis=1)
    return _guarded(compared, sums / second - (both.sum() - sums) / first)


def least_p_value(first: int, second: int | None = None) -> float:
    """The floor: the most probable way in which all originals have one value and all mutants another, under the best chance of each."""
    second = first if second is None else second
    total = first + second
    return float((first / total) ** first * (second / total) ** second)


def resolution(original: FloatArray, mutant: FloatArray) -> float:
    """The smallest step between different scores; 0 when all are equal."""
    ordered = np.sort(np.concatenate([original, mutant]))
    steps = np.diff(ordered)
    steps = steps[steps > _SAME * float(np.abs(ordered).max())]
    return float(steps.min()) if len(steps) else 0.0


def _by_t(gap: float, variance: float, freedom: float, floor: float) -> Compared:
    if variance == 0:  # then all scores are equal: their resolution is 0 too
        return Compared(1.0, 1.0, 0.0, freedom)
    from scipy.special import stdtr

    statistic = gap / math.sqrt(variance)
    below = float(stdtr(freedom, statistic))
    above = float(stdtr(freedom, -statistic))
    return Compared(max(above, floor), max(below, floor), statistic, freedom)


def _guarded(compared: Compared, gaps: FloatArray) -> Compared:
    """`gaps`: the difference of means under every exchange, the real one first."""
    tolerance = 1e-9 * float(np.abs(gaps).max())
    worse = float((gaps >= gaps[0] - tolerance).mean())
    better = float((gaps <= gaps[0] + tolerance).mean())
    return Compared(
        max(compared.worse, worse), max(compared.better, better), compared.statistic, compared.freedom
    )


@cache
def _signs(count: int) -> FloatArray | None:
    """Ways of exchanging scores within pairs, a row of 1 (as it is) and -1 (exchanged) each, over the count."""
    if 0.5**count > _GUARDS:
        return None
    if 2**count <= _MOST_COUNTED:
        exchanged = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    else:
        exchanged = np.random.default_rng(_SEED).integers(0, 2, (_MOST_COUNTED, count))
        exchanged[0] = 0
    return np.asarray((1.0 - 2.0 * exchanged) / count, dtype=float)


@cache
def _regroupings(first: int, second: int) -> np.ndarray | None:
    """Which scores would be the mutant's: positions in the originals followed by the mutants, the real ones first."""
    ways = math.comb(first + second, second)
    if 1 / ways > _GUARDS:
        return None
    positions = range(first + second)
    if ways <= _MOST_COUNTED:
        # The last combination in order is the real one: the mutants come after the originals.
        return np.array(list(combinations(positions, second)))[::-1]
    random = np.random.default_rng(_SEED)
    drawn = random.random((_MOST_COUNTED, first + second)).argsort(axis=1)[:, :second]
    drawn[0] = np.arange(first, first + second)
    return np.asarray(drawn)


# Power of t-tests: how probably a difference of a given size is found with a given number of runs.
#
# By the noncentral t distribution of the test that was really used (paired, or Welch's for two groups), one-sided. The effect is a
# difference of means in standard deviations: of the differences within pairs for the paired test (`paired_power`), of the scores themselves
# for two groups (`groups_power`). Cohen's f, which tests on variances use, is half of that for two equal groups; taking one for the other
# makes every comparison look stronger than it is.

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
