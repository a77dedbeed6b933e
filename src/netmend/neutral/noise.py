"""When one configuration is as good as another: means over the same seeds, and how much chance may move them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from netmend.repair.objective import Objective

_NEAR = 2.0  # standard errors of the difference: what lies further behind will not catch up with more seeds
_TINY = 1e-12  # rounding
_HUNDREDTH = 0.01  # of the way from the program to the goal: a difference that nobody would look at

Values = Sequence[float | None]


def gap(objective: Objective, values: Values, other: Values) -> float:
    """By how much the first list is better, as a difference of mean errors; failures are infinitely bad."""
    errors = objective.errors([*values, *other])
    own, its = errors[: len(values)], errors[len(values) :]
    mean, reference = _mean(own), _mean(its)
    if math.isinf(mean):
        return -math.inf
    return math.inf if math.isinf(reference) else reference - mean


def as_good(objective: Objective, values: Values, other: Values, noise: float, slack: float = 0.0) -> bool:
    """The mean is no worse than the other's by more than one standard error of their difference (or the slack, if larger).

    `noise` is the standard deviation of one training of what is compared with. A configuration's own spread excuses
    nothing: what is good with one seed and bad with the next is not as good.
    """
    return gap(objective, values, other) >= -max(noise * math.sqrt(2 / max(1, len(values))), slack) - _TINY


def is_near(objective: Objective, values: Values, parent: Values, noise: float) -> bool:
    """Whether a configuration that was trained with a few seeds is worth more of them; compared on the same seeds."""
    spread = noise * math.sqrt(2 / max(1, len(values)))
    return gap(objective, values, parent[: len(values)]) >= -_NEAR * spread - _TINY


def deviation(*lists: Values) -> float:
    """The largest standard deviation of any list: how far one training may lie from the mean."""
    return max((_deviation(values) for values in lists), default=0.0)


def slack_of(objective: Objective, original: Values, goal: Values) -> float:
    """A hundredth of the way from the program to the goal."""
    way = gap(objective, goal, original)
    return _HUNDREDTH * abs(way) if math.isfinite(way) else 0.0


def _mean(errors: Sequence[float]) -> float:
    return sum(errors) / len(errors) if errors else math.inf


def _deviation(values: Values) -> float:
    known = [value for value in values if value is not None]
    return stdev(known) if len(known) > 1 else 0.0
