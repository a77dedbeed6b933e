"""What the trainings of a configuration say about it, and which configurations are worth following up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.neutral.alternatives import as_good, deviation, error_of, is_near, reaches
from netmend.neutral.graph import Graph
from netmend.neutral.neutrality import FAILED, GIVEN_UP, KEPT, OPEN, SAME, WORSE, Goal, Node
from netmend.repair.version import Version
from netmend.trials.trial import Outcome


@dataclass
class Judge:
    graph: Graph
    goal: Goal | None = None  # None: the best that is found in the end

    def status(self, node: Node) -> str:
        """Beside its parent, on the same seeds."""
        objective = self.graph.problem.objective
        assert node.parent is not None
        parent = self.graph.nodes[node.parent]
        if objective is None or node.mean is None:
            return FAILED
        own, its = self.graph.outcomes[node.id][0], self.graph.outcomes[parent.id][0]
        if trains_alike(own, its, objective.series):
            return SAME
        noise = deviation(parent.values, self.graph.nodes[0].values)
        if len(node.values) == len(self.graph.seeds):
            return KEPT if as_good(objective, node.values, parent.values, noise) else WORSE
        if is_near(objective, node.values, parent.values, noise) or self.reaches(node):
            return OPEN
        return GIVEN_UP

    def chosen(self, kept: Sequence[Node], width: int) -> list[Node]:
        """The best, and of each set of changed things only the best values.

        What reaches a known goal needs no more changes; what changes all that an alternative changes can only lead to larger
        sets, so it comes last.
        """
        ranked = sorted(
            (node for node in kept if not self.reaches(node)),
            key=lambda node: (self.is_larger(node.version), self.error(node), node.id),
        )
        return list({node.knobs: node for node in reversed(ranked)}.values())[::-1][:width]

    def reaches(self, node: Node) -> bool:
        """Whether it reaches a goal that is known beforehand."""
        goal = self.goal
        return goal is not None and reaches(self.graph.problem.objective, node, goal, self.graph.nodes[0])

    def is_larger(self, version: Version) -> bool:
        """Whether a version changes all that some alternative changes, and perhaps more."""
        done = [node.version.knobs for node in self.graph.nodes if node.status == KEPT and self.reaches(node)]
        return any(knobs <= version.knobs for knobs in done if knobs)

    def error(self, node: Node) -> float:
        objective = self.graph.problem.objective
        return math.inf if objective is None else error_of(objective, node, self.graph.nodes)


def trains_alike(one: Outcome, other: Outcome, measure: str) -> bool:
    """Whether two trainings gave the same losses and the same measure wherever both were looked at.

    Which steps are looked at depends on time, and what is made up from several steps with it: only plain losses and what the
    program itself says are compared.
    """
    if one.steps != other.steps or not one.ran or not other.ran:
        return False
    shared = 0
    for name in ("training:loss", measure):
        if name.startswith(("training:", "evaluation:")) and not name.endswith(":loss"):
            continue
        known = {point[0]: point[1] for point in other.series.get(name, [])}
        both = [(value, known[step]) for step, value in one.series.get(name, []) if step in known]
        if any(mine != its and not (math.isnan(mine) and math.isnan(its)) for mine, its in both):
            return False
        shared += len(both)
    return shared > 0
