"""What a study will cost, said before it starts: trainings and time, at least and at most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.mutate.magnitude import Scale
from netmend.mutate.options import Profile


@dataclass(frozen=True)
class Estimate:
    """Least: every mutant is decided at its first look and no fault is searched. Most: none is decided before the last look."""

    operators: int
    listed: int  # mutants without a strength
    searched: int  # faults with a strength
    least: int  # trainings
    most: int
    seconds: float  # of one training, measured
    jobs: int

    @property
    def least_seconds(self) -> float:
        return self._span(self.least)

    @property
    def most_seconds(self) -> float:
        return self._span(self.most)

    def _span(self, trainings: int) -> float:
        return math.ceil(trainings / max(1, self.jobs)) * self.seconds


def estimate(
    operators: int,
    listed: int,
    scales: Sequence[Scale],
    sets: int,
    profile: Profile,
    seconds: float,
    jobs: int,
) -> Estimate:
    """`sets`: how many sets of data each fault with a strength is searched with."""
    first, last = profile.pairs[0], profile.pairs[-1]
    least = last + first * (listed + len(scales))
    values = sum(1 + min(sets * steps(scale), grid(scale)) for scale in scales)
    return Estimate(
        operators, listed, len(scales), least, last + 1 + last * (listed + values), seconds, max(1, jobs)
    )


def steps(scale: Scale) -> int:
    """Halvings until a range is as small as the precision."""
    return max(0, math.ceil(math.log2(max(1.0, _cells(scale))) - 1e-9))


def grid(scale: Scale) -> int:
    """Values that halving can reach at all."""
    return int(2 ** steps(scale)) - 1


def _cells(scale: Scale) -> float:
    if scale.logarithmic:
        ratio = max(scale.mildest, scale.extreme) / min(scale.mildest, scale.extreme)
        return math.log(ratio) / math.log(scale.precision)
    return abs(scale.extreme - scale.mildest) / scale.precision
