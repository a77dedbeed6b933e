"""When a mutant is killed: on the starts of the training, or, where it survives these, at the edge."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netmend.mutate.mutation import Mutation
from netmend.rl.common_starts import CommonStarts
from netmend.rl.criteria import FELL
from netmend.rl.episodes import Episodes
from netmend.rl.judging import Judged
from netmend.rl.ladders import ON, Ladder
from netmend.rl.result import EDGE, KILLED, REPLAY, SURVIVED
from netmend.rl.study import Study

RUNS, STARTS = 5, 40


def played(fails: bool) -> Episodes:
    numbers = np.zeros(STARTS)
    rows, ends = np.zeros((STARTS, 4)), np.full(STARTS, fails)
    return Episodes(rows, rows, numbers, numbers, ends, numbers, numbers, numbers)


class Stub:
    """What judging needs of a study, with agents that fail at all starts of a list or at none."""

    def __init__(self, replay: str, edge: str, starts_at_edge: int = STARTS) -> None:
        passed = [np.zeros(STARTS, dtype=bool)] * RUNS
        self.seeds, self.criterion, self.replay_failed = list(range(RUNS)), FELL, passed
        self.common = CommonStarts({EDGE: np.zeros((starts_at_edge, 4))}, {EDGE: passed})
        self.fails = {REPLAY: replay, EDGE: edge}
        self.trained = self.played = 0
        mutation = Mutation("M799", "RL-REW-SUBOPT", "a mutant", ())
        self.judged = Judged(Ladder("M799", "", "a mutant", ON, (mutation,), (1.0,)), 0, ())
        self.answer(Study._judge(self, self.judged))  # type: ignore[arg-type]

    def _trainings(self, judged: Judged, stop: int) -> Any:
        wanted = range(len(judged.agents), stop)
        self.trained += len(wanted)
        return [(REPLAY, seed) for seed in wanted]

    def _at_edge(self, judged: Judged) -> Any:
        wanted = range(len(judged.at_edge), len(judged.agents))
        self.played += len(wanted)
        return [(EDGE, seed) for seed in wanted]

    def answer(self, judging: Any) -> None:
        agents = None
        while True:
            try:
                trials = next(judging) if agents is None else judging.send(agents)
            except StopIteration:
                return
            agents = [
                SimpleNamespace(problem="", episodes={name: played(self.fails[name][seed] == "x")})
                for name, seed in trials
            ]


@pytest.mark.parametrize(
    ("replay", "edge", "status", "trained", "played_at_edge"),
    [
        ("xxxxx", "xxxxx", KILLED, 3, 0),  # the training's own starts are enough
        (".....", "xxxxx", KILLED, 3, 3),
        (".....", ".....", SURVIVED, 3, 3),
        ("x....", "x.x.x", KILLED, 5, 5),  # undecided until the last pair
        ("x.x..", "..x..", SURVIVED, 5, 5),
    ],
)
def test_what_survives_the_trainings_own_starts_is_looked_at_at_the_edge(
    replay: str, edge: str, status: str, trained: int, played_at_edge: int
) -> None:
    stub = Stub(replay, edge)
    tried = stub.judged.tried(stub.replay_failed, FELL)
    assert tried.status == status
    assert (stub.trained, stub.played) == (trained, played_at_edge)
    assert (tried.edge is not None) is (played_at_edge > 0)


def test_without_starts_at_the_edge_the_trainings_own_decide() -> None:
    stub = Stub(".....", "xxxxx", starts_at_edge=0)
    assert stub.judged.tried(stub.replay_failed, FELL).status == SURVIVED
    assert stub.played == 0


def test_a_mutant_killed_at_the_edge_only_is_not_trivial() -> None:
    stub = Stub(".....", "xxxxx")
    tried = stub.judged.tried(stub.replay_failed, FELL)
    assert tried.rate == 0 and tried.edge == 1.0 and not tried.is_trivial
