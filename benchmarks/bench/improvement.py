"""How much of a known fix's gain a patch has: means over seeds, and rates between faulty (0) and fixed (1)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netmend.repair.objective import Objective
from netmend.trials.trial import Outcome

SEEDS = (5001, 5002, 5003)  # neither a search nor a proof uses them
ENOUGH = 0.95  # of the known fix's gain: what the comparisons call repaired
_LEAST_NOISE = (
    0.01  # of the known fix's gain: a measure that is the same with every seed still has an end to its digits
)


@dataclass(frozen=True)
class Side:
    """One version of a program over the fresh seeds; None: that training did not end well."""

    values: tuple[float | None, ...]

    @property
    def mean(self) -> float | None:
        """None when any of the trainings did not end well."""
        known = [value for value in self.values if value is not None]
        return round(sum(known) / len(known), 6) if known and len(known) == len(self.values) else None

    @property
    def spread(self) -> float | None:
        """Between the best and the worst seed."""
        known = [value for value in self.values if value is not None]
        return max(known) - min(known) if known and len(known) == len(self.values) else None


def side(objective: Objective | None, outcomes: Iterable[Outcome]) -> Side:
    return Side(tuple(None if objective is None else objective.value(outcome) for outcome in outcomes))


def better(objective: Objective, before: float | None, after: float | None) -> bool:
    if after is None:
        return False
    return before is None or (after > before if objective.higher_is_better else after < before)


def unlearned(objective: Objective, fixed: Outcome) -> float | None:
    """For a program that fails as it is: an accuracy of 0, or the first loss that the fixed program prints."""
    points = fixed.series.get(objective.series)
    return 0.0 if objective.higher_is_better else points[0][1] if points else None


def improvement_rate(faulty: float | None, fixed: float | None, patched: float | None) -> float | None:
    """The share of the known fix's gain; None where that has none, 0 where the patched program fails."""
    if fixed is None:
        return None
    if patched is None:
        return 0.0
    if faulty is None:
        return None
    gap = fixed - faulty
    return None if gap == 0 else round((patched - faulty) / gap, 4)


def counted(rate: float | None) -> float:
    """As the repair study's rates are averaged: no result is 0, and more than the known fix is no more than 1."""
    return 0.0 if rate is None else min(1.0, rate)


def helps(higher_is_better: bool, faulty: float | None, fixed: Side) -> bool:
    """Whether the known fix brings anything; without that there is no rate."""
    if fixed.mean is None or faulty is None:
        return False
    return fixed.mean > faulty if higher_is_better else fixed.mean < faulty


def reaches(higher_is_better: bool, faulty: float | None, fixed: Side, patched: float | None) -> bool:
    """Whether a patch is as good as the known fix within that fix's own noise: the spread of its seeds."""
    if fixed.mean is None or fixed.spread is None or patched is None:
        return False
    gain = abs(fixed.mean - faulty) if faulty is not None else 0.0
    noise = max(fixed.spread, _LEAST_NOISE * gain)
    short = fixed.mean - patched if higher_is_better else patched - fixed.mean
    return short <= noise + 1e-12


def changed_lines(old: str, new: str) -> int:
    """Lines that differ: of a replaced piece, the larger side counts."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def average(rates: Sequence[float | None]) -> float:
    """The mean of rates as the study counts them; 0 of none."""
    return sum(counted(rate) for rate in rates) / len(rates) if rates else 0.0
