"""Original against mutant: the agents of each seed, their failures on the same starts, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.episodes import Criterion, Episodes
from netmend.mutate.agents.generators import Failed, StartList, counts
from netmend.mutate.agents.ladders import Ladder
from netmend.mutate.agents.pair_verdicts import Pairs, PairsVerdict, verdict_of
from netmend.mutate.agents.result import CRASHED, EDGE, KILLED, REPLAY, SURVIVED, UNDECIDED, Tried
from netmend.mutate.agents.trained import Agent, Texts
from netmend.mutate.mutation import Mutation


@dataclass(frozen=True, eq=False)
class Shown:
    """What originals and mutants of all pairs do at the starts of one generator."""

    starts: StartList
    before: Sequence[Failed]
    after: Sequence[Failed]

    @property
    def verdict(self) -> PairsVerdict:
        both = zip(self.before, self.after, strict=True)
        return verdict_of(
            [
                (self.starts.counts(pair, old), self.starts.counts(pair, new))
                for pair, (old, new) in enumerate(both)
            ]
        )


@dataclass(frozen=True, eq=False)
class Known:
    """Where the originals fail: at starts of their own training, and at those at the edge that their pair is judged at."""

    criterion: Criterion
    replay: Sequence[Failed]
    edge: Sequence[Failed]

    def both(self, pair: int) -> Failed:
        return np.concatenate([self.replay[pair], self.edge[pair]])


@dataclass(eq=False)
class Judged:
    """One mutant and its agents so far, in the order of the seeds."""

    ladder: Ladder
    index: int
    texts: Texts
    agents: list[Agent] = field(default_factory=list)
    # on starts of the training and at the edge together; None: not decided yet
    verdict: PairsVerdict | None = None
    crash: str = ""  # what its training ended with, where it did

    @property
    def mutation(self) -> Mutation:
        return self.ladder.steps[self.index]

    @property
    def grade(self) -> float:
        return self.ladder.grades[self.index]

    @property
    def is_dead(self) -> bool:
        return bool(self.crash) or (self.verdict is not None and self.verdict.killed)

    def failed(self, name: str, criterion: Criterion) -> list[Failed]:
        """Per agent; nothing at starts that were not played."""
        return [
            criterion.failed(agent.episodes[name]) if name in agent.episodes else np.zeros(0, dtype=np.bool_)
            for agent in self.agents
        ]

    def pairs(self, known: Known) -> Pairs:
        own = zip(self.failed(REPLAY, known.criterion), self.failed(EDGE, known.criterion), strict=True)
        return [
            (counts(known.both(pair)), counts(np.concatenate([replay, edge])))
            for pair, (replay, edge) in enumerate(own)
        ]

    def triviality(self, known: Known) -> float:
        """Of the training's starts that the original passes, the share at which the mutant fails; mean over pairs."""
        shares = [
            float(np.mean(new[~old]))
            for old, new in zip(known.replay, self.failed(REPLAY, known.criterion), strict=False)
            if len(new) and (~old).any()
        ]
        return float(np.mean(shares)) if shares else 0.0

    def verdict_at(self, name: str, known: Known) -> PairsVerdict:
        """At starts of the training, or at the edge, by themselves."""
        originals = known.replay if name == REPLAY else known.edge
        both = zip(originals, self.failed(name, known.criterion), strict=False)
        return verdict_of([(counts(old), counts(new)) for old, new in both])

    def tried(self, known: Known) -> Tried:
        edge: float | None = None
        if self.crash:
            status, rate, trivial = CRASHED, 1.0, 1.0
        elif self.verdict is None:
            status, rate, trivial = UNDECIDED, 0.0, 0.0
        else:
            status = KILLED if self.is_dead else SURVIVED
            rate, trivial = self.verdict_at(REPLAY, known).rate, self.triviality(known)
            if any(map(len, known.edge)):
                edge = self.verdict_at(EDGE, known).rate
        own = self.mutation
        return Tried(
            own.title,
            own.cause,
            self.ladder.direction,
            self.ladder.values[self.index],
            self.grade,
            status,
            rate,
            len(self.agents),
            trivial,
            edge,
        )


def joined(sets: Sequence[Episodes], criterion: Criterion) -> tuple[NDArray[np.float64], Failed]:
    """Features and failures of several sets of episodes, for a predictor."""
    features = np.concatenate([each.features for each in sets])
    return features, np.concatenate([criterion.failed(each) for each in sets])
