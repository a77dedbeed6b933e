"""From trained configurations to alternatives: which reach the goal, allowing for chance; what each changes; which sets are minimal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from netmend.neutral.neutrality import BEST, FIX, KEPT, LIKE, WORSE, Alternative, Goal, Node
from netmend.repair.objective import Objective

# When one configuration is as good as another: means over the same seeds, and how much chance may move them.

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


def best_goal(objective: Objective | None, nodes: Sequence[Node]) -> Goal:
    """The best mean that the search has reached; only configurations that were trained with all seeds count."""
    whole = [node for node in nodes if node.mean is not None and is_whole(node)]
    if objective is None or not whole:
        return Goal(BEST, None)
    best = min(whole, key=lambda node: (error_of(objective, node, whole), node.id))
    return Goal(BEST, best.mean, best.values, best.id)


def fix_goal(values: Sequence[float | None]) -> Goal:
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known and len(known) == len(values) else None
    return Goal(FIX, mean, tuple(values))


def like_goal(value: float) -> Goal:
    return Goal(LIKE, value)


def is_whole(node: Node) -> bool:
    """Trained with every seed: the program as it is, and what was kept or found worse in the end."""
    return node.parent is None or node.status in (KEPT, WORSE)


def reaches(objective: Objective | None, node: Node, goal: Goal, original: Node) -> bool:
    """Whether a configuration does as well as the goal.

    A given value has to be reached by the mean; beside trainings of a fix, chance is allowed for.
    """
    if objective is None or goal.value is None or node.mean is None:
        return False
    if goal.kind == LIKE:
        return gap(objective, [node.mean], [goal.value]) >= 0
    slack = slack_of(objective, original.values, goal.values)
    return as_good(objective, node.values, goal.values, deviation(goal.values), slack)


def alternatives(objective: Objective | None, nodes: Sequence[Node], goal: Goal) -> tuple[Alternative, ...]:
    """The sets of changed things with which the goal is reached; the minimal ones first, then the best."""
    original = nodes[0]
    reached = [
        node
        for node in nodes[1:]
        if node.knobs and is_whole(node) and reaches(objective, node, goal, original)
    ]
    if objective is None:
        return ()
    by_knobs: dict[frozenset[str], list[Node]] = {}
    for node in sorted(reached, key=lambda node: (error_of(objective, node, reached), node.id)):
        by_knobs.setdefault(frozenset(node.knobs), []).append(node)
    found = []
    for knobs, own in by_knobs.items():
        smaller = [others[0].id for set_, others in by_knobs.items() if set_ < knobs]
        found.append(
            Alternative(
                own[0].knobs,
                own[0].causes,
                tuple(node.id for node in own),
                not smaller,
                tuple(sorted(smaller)),
            )
        )
    return tuple(sorted(found, key=lambda one: (not one.minimal, len(one.knobs) if not one.minimal else 0)))


def error_of(objective: Objective, node: Node, beside: Sequence[Node]) -> float:
    """The error of a configuration's mean on the scale of all that it is compared with."""
    if node.mean is None:
        return math.inf
    return objective.errors([node.mean, *(other.mean for other in beside)])[0]
