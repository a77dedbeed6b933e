"""When a mutant is killed: at starts of the training and at the edge together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netmend.mutate.agents.episodes import FELL, Episodes
from netmend.mutate.agents.judging import Judged, Known
from netmend.mutate.agents.ladders import ON, Ladder
from netmend.mutate.agents.result import EDGE, KILLED, REPLAY, SURVIVED
from netmend.mutate.agents.study import Study
from netmend.mutate.mutation import Mutation

RUNS, STARTS = 5, 40


def played(fails: bool) -> Episodes:
    numbers = np.zeros(STARTS)
    rows, ends = np.zeros((STARTS, 4)), np.full(STARTS, fails)
    return Episodes(rows, rows, numbers, numbers, ends, numbers, numbers, numbers)


class Stub:
    """What judging needs of a study, with agents that fail at all starts of a list or at none."""

    def __init__(self, replay: str, edge: str, starts_at_edge: int = STARTS) -> None:
        passed = [np.zeros(STARTS, dtype=bool)] * RUNS
        self.seeds = list(range(RUNS))
        self.known = Known(FELL, passed, [each[:starts_at_edge] for each in passed])
        self.fails = {REPLAY: replay} | ({EDGE: edge} if starts_at_edge else {})
        self.trained = 0
        mutation = Mutation("M799", "RL-REW-SUBOPT", "a mutant", ())
        self.judged = Judged(Ladder("M799", "", "a mutant", ON, (mutation,), (1.0,), (1.0,)), 0, ())
        self.answer(Study._judge(self, self.judged))  # type: ignore[arg-type]
        self.tried = self.judged.tried(self.known)

    def _trainings(self, judged: Judged, stop: int) -> Any:
        wanted = range(len(judged.agents), stop)
        self.trained += len(wanted)
        return list(wanted)

    def answer(self, judging: Any) -> None:
        agents = None
        while True:
            try:
                seeds = next(judging) if agents is None else judging.send(agents)
            except StopIteration:
                return
            agents = [
                SimpleNamespace(
                    problem="",
                    episodes={name: played(which[seed] == "x") for name, which in self.fails.items()},
                )
                for seed in seeds
            ]


@pytest.mark.parametrize(
    ("replay", "edge", "status", "trained"),
    [
        ("xxxxx", "xxxxx", KILLED, 3),
        ("xxxxx", ".....", KILLED, 3),  # either of the two is enough
        (".....", "xxxxx", KILLED, 3),
        (".....", ".....", SURVIVED, 3),
        ("x.xxx", "x.xxx", KILLED, 5),  # not decided before the last pair
        ("x.x.x", "x.x.x", SURVIVED, 5),  # half of the pairs, but not over the trainings
    ],
)
def test_a_mutant_is_judged_at_starts_of_the_training_and_at_the_edge(
    replay: str, edge: str, status: str, trained: int
) -> None:
    stub = Stub(replay, edge)
    assert (stub.tried.status, stub.trained) == (status, trained)
    assert stub.tried.edge == edge[:trained].count("x") / trained


def test_without_starts_at_the_edge_the_trainings_own_decide() -> None:
    assert Stub(".....", "xxxxx", starts_at_edge=0).tried.status == SURVIVED
    stub = Stub("xxxxx", ".....", starts_at_edge=0)
    assert stub.tried.status == KILLED and stub.tried.edge is None


def test_a_mutant_killed_at_the_edge_only_is_not_trivial() -> None:
    tried = Stub(".....", "xxxxx").tried
    assert tried.rate == 0 and tried.edge == 1.0 and not tried.is_trivial
