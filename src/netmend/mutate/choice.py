"""Which mutants a study trains, of every applicable operator some; and what that will cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from netmend.changes.case import Case
from netmend.errors import UsageError
from netmend.mutate.magnitude import Knob, Scale, knobs, singles
from netmend.mutate.mutation import OPERATORS, Mutation, Operator
from netmend.mutate.options import Profile

Item = TypeVar("Item")


@dataclass(frozen=True)
class Chosen:
    knobs: tuple[Knob, ...]
    singles: tuple[Mutation, ...]
    applicable: tuple[str, ...]  # codes of operators with something to do in this program

    @property
    def operators(self) -> tuple[str, ...]:
        return _codes([*self.knobs, *self.singles])


def chosen(case: Case, profile: Profile, wanted: tuple[str, ...], problems: list[str]) -> Chosen:
    """Operators by code; of each the mutants from the mildest to the strongest, knobs at different places."""
    operators = _wanted(wanted)
    turned = knobs(case, problems, operators)
    listed = singles(case, problems, operators)
    applicable = _codes([*turned, *listed])
    kept_knobs = [
        replace(knob, scale=coarse(knob.scale, profile.halvings))
        for group in _grouped(turned)
        for knob in spread(group, profile.knobs)
    ]
    kept = [each for group in _grouped(listed) for each in spread(group, profile.singles)]
    return Chosen(tuple(kept_knobs), tuple(kept), applicable)


def _codes(faults: Sequence[Knob | Mutation]) -> tuple[str, ...]:
    return tuple(sorted({each.operator for each in faults}))


def _wanted(codes: tuple[str, ...]) -> list[Operator]:
    every = list(OPERATORS.all())
    if not codes:
        return every
    found = [each for each in every if each.code.startswith(codes)]
    for code in codes:
        if not any(each.code.startswith(code) for each in every):
            known = ", ".join(sorted(each.code for each in every))
            raise UsageError(f"--operators: there is no operator {code}; there are {known}")
    return found


def _grouped(items: Sequence[Item]) -> list[list[Item]]:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.operator, []).append(item)  # type: ignore[attr-defined]
    return [groups[code] for code in sorted(groups)]


def spread(items: Sequence[Item], most: int | None) -> list[Item]:
    """From the first to the last, at equal distances."""
    if most is None or len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]


def coarse(scale: Scale, halvings: int | None) -> Scale:
    """The scale with a precision that so many halvings reach; never finer than the operator's own."""
    if halvings is None:
        return scale
    if scale.logarithmic:
        ratio = max(scale.mildest, scale.extreme) / min(scale.mildest, scale.extreme)
        return replace(scale, precision=max(scale.precision, ratio ** (0.5**halvings)))
    return replace(scale, precision=max(scale.precision, abs(scale.extreme - scale.mildest) * 0.5**halvings))


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
