"""Train few pairs first: after 3, 5, 8 and 10 pairs, is the mutant killed, does it survive, or are more runs needed?

- Killed: the p-value is at or below the boundary of this look (all looks together keep alpha), the effect is large enough, and the
  comparison is stable (power 0.8). At the last look an unstable kill is told too; it says so itself.
- Survived: after the last look, or when more runs would hardly change it (futility): the chance of a kill at the last look, predicted from what
  has been seen without any other assumption, is below `futility`. Stopping early for futility can only lower the level.

How much of the error of the first kind each look may spend: a test at 0.05 that is repeated at 3, 5, 8 and 10 runs errs in more than 5 % of
the cases. Lan and DeMets let a rising function of the share of data say how much may have been spent by then; what is new at a look, given that
no earlier one has rejected, is its boundary. For normal sums that is a recursion of integrals over the density of the sum that has not crossed
yet; here by Gauss-Legendre quadrature. The function is the one that resembles Pocock's boundaries: most mutants are either plainly dead or as
good as the original, and nearly equal limits at all looks let the plain ones be told early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from netmend.errors import UsageError
from netmend.mutate.comparison import STABLE, least_p_value
from netmend.mutate.verdicts import (
    CONSTANT,
    LEAST_EFFECT,
    NO_DIFFERENCE,
    NOT_A_NUMBER,
    SMALL,
    WORSE,
    Verdict,
    check_level,
    scores_verdict,
)
from netmend.vocabulary.table import FloatArray

_NODES = 400
_FAR = 8.0  # standard deviations below which a sum is never met


def spent(share: float, alpha: float) -> float:
    """Of alpha, when so much of the data has been seen."""
    return alpha * math.log(1 + (math.e - 1) * min(1.0, share))


@cache
def boundaries(shares: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    """The p-value at or below which each look rejects. `shares`: of the data, rising, the last one 1."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    levels: list[float] = []
    places: FloatArray = np.zeros(1)  # where the sum may be, not having crossed
    masses: FloatArray = np.ones(1)  # and how probably
    seen = 0.0
    for share in shares:
        deviation = math.sqrt(share - seen)
        new = spent(share, alpha) - spent(seen, alpha)
        limit = _limit(places, masses, deviation, new)
        levels.append(float(ndtr(-limit / math.sqrt(share))))
        low = -_FAR * math.sqrt(share)
        half = (limit - low) / 2
        at = low + half * (nodes + 1)
        density = np.exp(-0.5 * ((at[:, None] - places) / deviation) ** 2) / (
            deviation * math.sqrt(2 * math.pi)
        )
        places, masses = at, (density @ masses) * weights * half
        seen = share
    return tuple(levels)


def _limit(places: FloatArray, masses: FloatArray, deviation: float, mass: float) -> float:
    """Where the new sum exceeds it with the given probability, by bisection."""
    from scipy.special import ndtr

    low, high = -_FAR, _FAR
    for _ in range(60):
        middle = (low + high) / 2
        if float(ndtr((places - middle) / deviation) @ masses) > mass:
            low = middle
        else:
            high = middle
    return (low + high) / 2


KILLED, SURVIVED, MORE = "killed", "survived", "more"
PAIRS = (3, 5, 8, 10)


@dataclass(frozen=True)
class Looks:
    """When to look, and what each look may conclude."""

    pairs: tuple[int, ...] = PAIRS
    alpha: float = 0.05
    least_effect: float = LEAST_EFFECT
    least_power: float = STABLE  # for a kill before the last look
    futility: float = 0.1  # 0: never give up early
    paired: bool = True

    def __post_init__(self) -> None:
        check_level(self.alpha)
        rising = all(a < b for a, b in zip(self.pairs, self.pairs[1:], strict=False))
        if not self.pairs or not rising or self.pairs[0] < 2:
            raise UsageError(
                f"Looks are rising numbers of pairs from 2 on, got {', '.join(map(str, self.pairs)) or 'none'}; 3, 5, 8, 10 is usual."
            )
        if not 0 <= self.futility < 0.5:
            raise UsageError(f"futility is a probability below 0.5, got {self.futility:g}; 0.1 is usual.")

    @property
    def most(self) -> int:
        return self.pairs[-1]

    def alpha_at(self, runs: int) -> float:
        """The p-value at or below which this look kills; 0 where it can only give up."""
        if runs not in self.pairs:
            looks = ", ".join(map(str, self.pairs))
            raise UsageError(
                f"There is no look at {runs} pairs; looks are at {looks}. Train up to the next one."
            )
        return self._levels.get(runs, 0.0)

    @property
    def _levels(self) -> dict[int, float]:
        """By number of pairs. An early look whose boundary lies below any p-value of so few pairs cannot kill; it spends nothing."""
        pairs = self.pairs
        while True:
            levels = boundaries(tuple(each / self.most for each in pairs), self.alpha)
            if len(pairs) == 1 or levels[0] >= least_p_value(pairs[0]):
                return dict(zip(pairs, levels, strict=True))
            pairs = pairs[1:]

    def verdict(
        self, original: Sequence[float], mutant: Sequence[float], *, higher_is_better: bool
    ) -> Verdict:
        """As `scores_verdict`, killed only at this look's boundary; power and better at alpha itself."""
        found = scores_verdict(
            original,
            mutant,
            higher_is_better=higher_is_better,
            paired=self.paired,
            alpha=self.alpha,
            least_effect=self.least_effect,
        )
        if found.reason in (WORSE, NOT_A_NUMBER, SMALL) and found.p_value > self.alpha_at(found.runs):
            return replace(found, killed=False, reason=NO_DIFFERENCE)
        return found

    def decide(self, original: Sequence[float], mutant: Sequence[float], *, higher_is_better: bool) -> str:
        """KILLED, SURVIVED or MORE."""
        return self.decision(self.verdict(original, mutant, higher_is_better=higher_is_better))

    def decision(self, verdict: Verdict) -> str:
        """What a verdict of `verdict` means for going on."""
        last = verdict.runs >= self.most
        if verdict.killed and (last or verdict.power >= self.least_power):
            return KILLED
        if last or verdict.reason == CONSTANT:
            return SURVIVED
        return SURVIVED if self.predicted(verdict) < self.futility else MORE

    def predicted(self, verdict: Verdict) -> float:
        """The chance that the last look will find a significant difference, given this one (flat prior on the effect)."""
        from scipy.special import ndtr, ndtri

        share = verdict.runs / self.most
        now = -float(ndtri(min(verdict.p_value, 1 - 1e-12)))
        needed = -float(ndtri(self.alpha_at(self.most)))
        if share >= 1:
            return float(now >= needed)
        return float(ndtr((now - needed * math.sqrt(share)) / math.sqrt(1 - share)))
