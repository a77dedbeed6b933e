"""The configurations that are known, and their trainings; whole after every step, so that it can be reported at any time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from netmend.neutral.neutrality import FAILED, GIVEN_UP, SAME, WORSE, Node
from netmend.neutral.versions import Key, program_of
from netmend.repair.problem import Problem
from netmend.repair.version import Version
from netmend.trials.trial import Outcome
from netmend.vocabulary.change import Change


@dataclass
class Graph:
    problem: Problem
    seeds: tuple[int, ...]
    nodes: list[Node] = field(default_factory=list)
    outcomes: dict[int, list[Outcome]] = field(default_factory=dict)  # by number, in the order of the seeds
    made: set[Key] = field(default_factory=set)  # programs that were trained
    seen: set[Key] = field(default_factory=set)  # these, and those that wait to be tried

    def add(self, parent: Node | None, version: Version, change: Change | None) -> int:
        """A new configuration without trainings; its number."""
        number = len(self.nodes)
        depth = 0
        if parent is not None:  # what takes something back is nearer to the program as it is
            back = len(version.parts) < len(parent.version.parts)
            depth = max(1, parent.depth - 1) if back else parent.depth + 1
        self.nodes.append(Node(number, None if parent is None else parent.id, depth, version, change))
        self.outcomes[number] = []
        self.made.add(program_of(version))
        self.seen.add(program_of(version))
        return number

    def note(self, number: int, outcome: Outcome) -> None:
        """One more training of a configuration."""
        own = self.outcomes[number]
        own.append(outcome)
        node = self.nodes[number]
        ended = [self.problem.cost(one) for one in own if one.ran] or [self.problem.cost(outcome)]
        self.nodes[number] = replace(
            node,
            values=tuple(self.problem.value(one) for one in own),
            seeds=self.seeds[: len(own)],
            cost=sum(ended) / len(ended),
            note=node.note or outcome.exception.partition("\n")[0],
        )

    def mark(self, number: int, status: str) -> None:
        self.nodes[number] = replace(self.nodes[number], status=status)

    def expand(self, number: int) -> Outcome:
        """A configuration whose neighbours are asked for; its training with the program's own seeds."""
        self.nodes[number] = replace(self.nodes[number], expanded=True)
        return self.outcomes[number][0]

    def is_made(self, version: Version) -> bool:
        return program_of(version) in self.made

    def is_new(self, version: Version) -> bool:
        """Whether a program was never seen before; it counts as seen from now on."""
        key = program_of(version)
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    @property
    def idle(self) -> set[tuple[str, str]]:
        """Changes (unit and title) that did nothing or did harm where they were tried."""
        tried = [(node.change, node.status) for node in self.nodes]
        return {
            (made.repair, made.title)
            for made, status in tried
            if made is not None and status in (SAME, FAILED, GIVEN_UP, WORSE)
        }
