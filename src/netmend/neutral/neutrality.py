"""What a neutrality analysis found: configurations, how well each trains, and which of them do as well as the goal."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from netmend.repair.objective import Objective
from netmend.repair.version import OfVersion, Version
from netmend.vocabulary.change import Change

# What became of a configuration.
START = "start"  # the program as it is
KEPT = "kept"  # at least as good as its parent
WORSE = "worse"
GIVEN_UP = "given up"  # clearly behind its parent before all seeds were trained
FAILED = "failed"  # a training did not run to its end, or its measure is not a number
SAME = "no effect"  # trains exactly as its parent does
OPEN = "open"  # near its parent, but the budget did not last for all seeds

# Where the goal comes from.
FIX, LIKE, BEST = "fix", "like", "best"


@dataclass(frozen=True)
class Node(OfVersion):
    """One configuration: the program with some changes, and the values of its trainings."""

    id: int  # 0: the program as it is; numbered in the order in which they were made
    parent: int | None
    depth: int
    version: Version
    change: Change | None  # the single change that leads here from its parent
    values: tuple[float | None, ...] = ()  # one for each seed that was trained; None: it failed
    seeds: tuple[int, ...] = ()
    status: str = OPEN
    expanded: bool = False
    cost: float = 1.0  # of one training, in trainings of the original program
    note: str = ""  # the exception, where it failed

    @property
    def knobs(self) -> tuple[str, ...]:
        """What differs from the program as it is, not from the parent."""
        return tuple(sorted(self.version.knobs))

    @property
    def lines(self) -> int:
        """Lines of source that differ from the program as it is; other arguments count as one line."""
        total = 0 if self.new_arguments is None else 1
        for file, text in self.version.texts.items():
            old, new = self.version.originals[file].splitlines(), text.splitlines()
            for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                total += 0 if tag == "equal" else max(j - i, m - k)
        return total

    @property
    def mean(self) -> float | None:
        """None when a training failed: what does not always run has no value to compare."""
        known = [value for value in self.values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(self.values) else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None with fewer than two."""
        known = [value for value in self.values if value is not None]
        if len(known) < 2 or len(known) < len(self.values):
            return None
        mean = sum(known) / len(known)
        return float((sum((value - mean) ** 2 for value in known) / (len(known) - 1)) ** 0.5)


@dataclass(frozen=True)
class Goal:
    """What an alternative has to reach."""

    kind: str  # fix | like | best
    value: float | None  # None: the fix fails, or nothing ran
    values: tuple[float | None, ...] = ()  # by seed; empty for a value that was given
    node: int | None = None  # of the best configuration, where that is the goal


@dataclass(frozen=True)
class Alternative:
    """A set of things to change with which the program reaches the goal."""

    knobs: tuple[str, ...]
    causes: tuple[str, ...]  # of its best configuration
    nodes: tuple[int, ...]  # configurations that change just these, the best first
    minimal: bool  # no part of the set does it alone
    contains: tuple[int, ...] = ()  # best configurations of the alternatives that are parts of this one


@dataclass(frozen=True)
class Neutrality:
    """A neutrality analysis from start to end."""

    script: str
    directory: str
    arguments: tuple[str, ...]
    objective: Objective | None
    nodes: tuple[Node, ...]  # the first is the program as it is
    goal: Goal
    alternatives: tuple[Alternative, ...]  # minimal ones first, then by how good they are
    seeds: tuple[int, ...]
    trainings: float  # in trainings of the program as it is
    seconds: float
    budget: str
    stopped: str = ""  # why the search ended
    untried: int = 0  # changes of expanded configurations that the budget did not last for
    problems: tuple[str, ...] = field(default=())  # parts of netmend that failed meanwhile

    @property
    def original(self) -> Node:
        return self.nodes[0]

    @property
    def minimal(self) -> tuple[Alternative, ...]:
        return tuple(found for found in self.alternatives if found.minimal)

    def node(self, number: int) -> Node:
        return self.nodes[number]
