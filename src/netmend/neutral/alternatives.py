"""From trained configurations to alternatives: which reach the goal, what each changes, and which sets are minimal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from netmend.neutral.neutrality import BEST, FIX, KEPT, LIKE, WORSE, Alternative, Goal, Node
from netmend.neutral.noise import as_good, deviation, gap, slack_of
from netmend.repair.objective import Objective


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
