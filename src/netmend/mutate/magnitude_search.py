"""The mildest value of a fault that is still noticed, found by halving the range between no fault and the extreme.

Pure: running programs and remembering their outcomes is the caller's. Where verdicts rise with the magnitude, about log2(range / precision) + 1
values are tried. Values whose outcome is known already (`known`: what another test set was judged on) cost nothing and are asked first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from netmend.mutate.verdicts import Verdict


class Range(Protocol):
    """What the search needs of a scale; `netmend.mutate.magnitude.Scale` is one."""

    @property
    def mildest(self) -> float: ...
    @property
    def extreme(self) -> float: ...
    @property
    def precision(self) -> float: ...
    @property
    def logarithmic(self) -> bool: ...
    def fitted(self, value: float) -> float: ...
    def position(self, value: float) -> float: ...


@dataclass(frozen=True)
class Found:
    """What the search knows about one ordered fault on one set of data."""

    killed: float | None  # the mildest value found to be killed; None: none is
    survived: float  # the strongest milder value not killed; the scale's mildest end (no fault) where none was tried
    tried: tuple[tuple[float, Verdict], ...]  # in the order in which they were asked

    @property
    def verdicts(self) -> dict[float, Verdict]:
        return dict(self.tried)

    def orderly(self, scale: Range) -> bool:
        """Whether every tried value beyond a killed one is killed too, as the halving supposes."""
        outcomes = [found.killed for value, found in sorted(self.tried, key=lambda it: scale.position(it[0]))]
        return outcomes == sorted(outcomes)


def mildest_killed(scale: Range, killed: Callable[[float], Verdict], known: Sequence[float] = ()) -> Found:
    """`killed` is asked once for each value. A range of which not even the extreme is killed is given up at once."""
    verdicts: dict[float, Verdict] = {}

    def ask(value: float) -> bool:
        if value not in verdicts:
            verdicts[value] = killed(value)
        return verdicts[value].killed

    start = [scale.extreme, *(value for value in known if value != scale.mildest)]
    dead = [value for value in start if ask(value)]
    if not dead:
        return Found(None, scale.extreme, tuple(verdicts.items()))
    upper = min(dead, key=scale.position)
    milder = [value for value in start if not ask(value) and scale.position(value) < scale.position(upper)]
    lower = max(milder, key=scale.position, default=scale.mildest)
    while not _close(scale, lower, upper):
        middle = scale.fitted(_middle(scale, lower, upper))
        if not scale.position(lower) < scale.position(middle) < scale.position(upper):
            break  # nothing that can be set lies between
        if ask(middle):
            upper = middle
        else:
            lower = middle
    return Found(upper, lower, tuple(verdicts.items()))


def _middle(scale: Range, lower: float, upper: float) -> float:
    return math.sqrt(lower * upper) if scale.logarithmic else (lower + upper) / 2


def _close(scale: Range, lower: float, upper: float) -> bool:
    allowed = scale.precision * (1 + 1e-9)  # 0.3 - 0.2 is not more than 0.1
    if scale.logarithmic:
        return max(lower, upper) <= min(lower, upper) * allowed
    return abs(upper - lower) <= allowed
