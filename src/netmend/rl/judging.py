"""Original against mutant: the agents of each seed, their failures on the same starts, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.counts import Counts, KillRate
from netmend.mutate.mutation import Mutation
from netmend.rl.criteria import Criterion
from netmend.rl.episodes import Episodes
from netmend.rl.ladders import Ladder
from netmend.rl.result import CRASHED, KILLED, REPLAY, SURVIVED, UNDECIDED, Tried
from netmend.rl.trained import Agent, Texts

Failed = NDArray[np.bool_]


def counts(failed: Failed) -> Counts:
    failures = int(failed.sum())
    return Counts(len(failed) - failures, failures)


@dataclass(eq=False)
class Judged:
    """One mutant and its agents so far, in the order of the seeds."""

    ladder: Ladder
    index: int
    texts: Texts
    agents: list[Agent] = field(default_factory=list)
    verdict: KillRate | None = None  # on the starts of the training
    at_edge: list[Agent] = field(default_factory=list)  # the same agents, played there
    edge_verdict: KillRate | None = None  # None where the starts of the training were enough
    crash: str = ""  # what its training ended with, where it did

    @property
    def mutation(self) -> Mutation:
        return self.ladder.steps[self.index]

    @property
    def is_dead(self) -> bool:
        return bool(self.crash) or any(
            verdict is not None and verdict.killed for verdict in (self.verdict, self.edge_verdict)
        )

    def failed(self, name: str, criterion: Criterion) -> list[Failed]:
        return [criterion.failed(agent.episodes[name]) for agent in self.agents]

    def triviality(self, originals: Sequence[Failed], own: Sequence[Failed]) -> float:
        """Of the starts that the original passes, the share at which the mutant fails; mean over pairs."""
        shares = [
            float(np.mean(new[~old]))
            for old, new in zip(originals, own, strict=False)
            if len(new) and (~old).any()
        ]
        return float(np.mean(shares)) if shares else 0.0

    def tried(self, originals: Sequence[Failed], criterion: Criterion) -> Tried:
        if self.crash:
            status, rate, trivial = CRASHED, 1.0, 1.0
        elif self.verdict is None:
            status, rate, trivial = UNDECIDED, 0.0, 0.0
        else:
            status, rate = KILLED if self.is_dead else SURVIVED, self.verdict.rate
            trivial = self.triviality(originals, self.failed(REPLAY, criterion))
        own = self.mutation
        return Tried(
            own.title,
            own.cause,
            self.ladder.direction,
            self.ladder.values[self.index],
            own.grade,
            status,
            rate,
            len(self.agents),
            trivial,
            None if self.edge_verdict is None else self.edge_verdict.rate,
        )


def pairs_of(originals: Sequence[Failed], mutants: Sequence[Failed]) -> list[tuple[Counts, Counts]]:
    return [(counts(old), counts(new)) for old, new in zip(originals, mutants, strict=False)]


def joined(sets: Sequence[Episodes], criterion: Criterion) -> tuple[NDArray[np.float64], Failed]:
    """Features and failures of several sets of episodes, for a predictor."""
    features = np.concatenate([each.features for each in sets])
    return features, np.concatenate([criterion.failed(each) for each in sets])
