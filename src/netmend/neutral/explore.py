"""The search: breadth first, one change at a time; a first seed for every neighbour, further seeds for those that are near."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from netmend.neutral.alternatives import alternatives, best_goal
from netmend.neutral.graph import Graph
from netmend.neutral.judge import Judge
from netmend.neutral.neutrality import KEPT, OPEN, START, Node
from netmend.neutral.versions import Key, program_of, with_change
from netmend.repair.problem import Problem
from netmend.repair.version import Version
from netmend.trials.trial import Outcome
from netmend.vocabulary.change import Change

# Of the trainings that are left, so many go to one depth (all of them at the last), and of these so many to first seeds:
# the others are for the seeds that tell whether what looked good is good.
_SHARE_OF_DEPTH = 2 / 3
_SHARE_OF_FIRST_SEEDS = 2 / 3
_SHARE_OF_SMALLER = 0.15  # of all trainings, to see whether what was found can do with fewer changes

Candidate = tuple[Node, Version, Change]  # a configuration, one that is a single change away, that change
Neighbours = Callable[[Problem, Version, Outcome, list[str]], list[Change]]


@dataclass
class Explorer:
    graph: Graph
    judge: Judge
    neighbours: Neighbours
    width: int
    depth: int
    problems: list[str] = field(default_factory=list)
    stopped: str = ""
    untried: int = 0
    _reserve: float = 0.0  # trainings that are kept back

    @property
    def problem(self) -> Problem:
        return self.graph.problem

    @property
    def jobs(self) -> int:
        return self.problem.runner.executor.jobs

    def start(self) -> None:
        """Train the program as it is with every seed; the first one chooses the measure."""
        problem, graph = self.problem, self.graph
        first = problem.baseline or problem.start()
        number = graph.add(None, problem.original, None)
        graph.note(number, first)
        graph.mark(number, START)
        for seed in graph.seeds[1:]:
            graph.note(number, problem.run([problem.original], seed)[0])

    def values_of(self, version: Version) -> list[float | None]:
        """A version that is no part of the graph, over all seeds: the known fix."""
        outcomes = [self.problem.run([version], seed)[0] for seed in self.graph.seeds]
        return [self.problem.value(outcome) for outcome in outcomes]

    def run(self) -> None:
        """Depth by depth, then without each part of what was found; what a depth could not finish or afford comes last."""
        self._reserve = self.problem.affordable * (_SHARE_OF_SMALLER if self.depth > 1 else 0.0)
        level = [self.graph.nodes[0]]
        late: list[Candidate] = []
        for depth in range(1, self.depth + 1):
            waiting = sorted(self._candidates(level), key=lambda item: self.judge.is_larger(item[1]))
            share = 1.0 if depth == self.depth else _SHARE_OF_DEPTH
            kept: list[Node] = []
            while waiting and not self._is_spent:
                made, left = self._tried(waiting, share)
                kept += [node for node in map(self.graph.nodes.__getitem__, made) if node.status == KEPT]
                stuck, waiting = len(left) == len(waiting), left
                if kept or stuck:
                    break
            late += waiting
            level = self.judge.chosen(kept, self.width)
        self._reserve = 0.0
        while not self._is_spent and (smaller := list(self._smaller())):
            _, left = self._tried(smaller, 1.0, all_seeds=True)
            if left:
                break
        late = [item for item in late if not self.graph.is_made(item[1])]
        self._further(range(1, len(self.graph.nodes)), self.problem.spent + self._affordable)
        while late and not self._is_spent:
            _, left = self._tried(late, 1.0)
            if len(left) == len(late):
                break
            late = left
        self.untried = len(late)
        spent = late or self._is_spent
        self.stopped = "the budget is spent" if spent else "every change was tried that could be followed up"

    @property
    def _affordable(self) -> float:
        """Trainings that are left for now."""
        return self.problem.affordable - self._reserve

    @property
    def _is_spent(self) -> bool:
        return self._affordable < 1

    def _smaller(self) -> Iterator[Candidate]:
        """Minimal sets of several changes without each of them: a search that adds cannot know which are needed."""
        nodes, objective = self.graph.nodes, self.problem.objective
        goal = self.judge.goal or best_goal(objective, nodes)
        offered: set[Key] = set()
        for one in alternatives(objective, nodes, goal):
            node = nodes[one.nodes[0]]
            for index, part in enumerate(node.version.parts):
                version = node.version.without(index) if one.minimal and len(node.version.parts) > 1 else None
                if version is None or self.graph.is_made(version):
                    continue
                if (key := program_of(version)) not in offered:
                    offered.add(key)
                    yield (
                        node,
                        version,
                        replace(part.change, title=f"taken back: {part.change.title}", cost=1.0),
                    )

    def _candidates(self, level: Sequence[Node]) -> Iterator[Candidate]:
        """Neighbours of the configurations in turn, each program once."""
        lists: list[tuple[Node, str, list[Change]]] = []
        idle = self.graph.idle  # may matter elsewhere, but what was never tried goes first
        for node in level:
            outcome = self.graph.expand(node.id)
            problems: list[str] = []
            offered = self.neighbours(self.problem, node.version, outcome, problems)
            self.problems += [text for text in problems if text not in self.problems]
            ordered = sorted(offered, key=lambda change: (change.repair, change.title) in idle)
            lists.append((node, outcome.root, ordered))
        directory = self.problem.runner.target.directory
        for index in range(max((len(changes) for *_, changes in lists), default=0)):
            for node, root, changes in lists:
                if index < len(changes):
                    made = with_change(node.version, changes[index], root, directory)
                    if made is not None and self.graph.is_new(made):
                        yield node, made, changes[index]

    def _tried(
        self, waiting: Sequence[Candidate], share: float, all_seeds: bool = False
    ) -> tuple[list[int], list[Candidate]]:
        """Train what a share of the budget lasts for; the numbers of those that were made, and what is left.

        `all_seeds`: there is room for all seeds of what is begun; otherwise first seeds get the larger part.
        """
        problem = self.problem
        before, allowance = problem.spent, self._affordable * share
        seeds = len(self.graph.seeds)
        part = 1.0 if seeds == 1 else 1 / seeds if all_seeds else _SHARE_OF_FIRST_SEEDS
        first_seeds = max(1.0, min(allowance * part, allowance - (seeds - 1)))  # one at least can be finished
        made: list[int] = []
        left: list[Candidate] = []
        chunk: list[Candidate] = []
        planned = 0.0
        for parent, version, change in waiting:
            cost = parent.cost * change.cost
            if problem.spent - before + planned + cost > first_seeds or cost > self._affordable - planned:
                left.append((parent, version, change))
                continue
            chunk.append((parent, version, change))
            planned += cost
            if len(chunk) >= self.jobs:
                made += self._first(chunk)
                chunk, planned = [], 0.0
        made += self._first(chunk)
        self._further(made, before + allowance)
        return made, left

    def _first(self, chunk: Sequence[Candidate]) -> list[int]:
        """One training of each."""
        outcomes = (
            self.problem.run([version for _, version, _ in chunk], self.graph.seeds[0]) if chunk else []
        )
        made = []
        for (parent, version, change), outcome in zip(chunk, outcomes, strict=True):
            number = self.graph.add(parent, version, change)
            self._noted(number, outcome)
            made.append(number)
        return made

    def _further(self, made: Sequence[int], limit: float) -> None:
        """Further seeds, the best first; who falls behind gets no more of them."""
        nodes, seeds = self.graph.nodes, self.graph.seeds
        # trainings for later seeds: what is begun is finished, as half of its seeds tell nothing
        promised = 0.0
        for index, seed in enumerate(seeds[1:], 1):
            near = [n for n in made if nodes[n].status == OPEN and len(nodes[n].values) == index]
            near.sort(key=lambda n: (self.judge.error(nodes[n]), n))
            while near:
                batch: list[int] = []
                planned = 0.0
                while near and len(batch) < self.jobs:
                    number = near.pop(0)
                    needed = nodes[number].cost * (len(seeds) - index)
                    if index > 1 or self.problem.spent + promised + planned + needed <= limit + 1e-9:
                        batch.append(number)
                        planned += needed
                outcomes = self.problem.run([nodes[n].version for n in batch], seed) if batch else []
                for number, outcome in zip(batch, outcomes, strict=True):
                    self._noted(number, outcome)
                    if index == 1 and nodes[number].status == OPEN:
                        promised += nodes[number].cost * (len(seeds) - 2)

    def _noted(self, number: int, outcome: Outcome) -> None:
        self.graph.note(number, outcome)
        self.graph.mark(number, self.judge.status(self.graph.nodes[number]))
