"""Successes and failures of agents: is a mutant of a reinforcement-learning program killed by its test environments?

Original and mutant of one seed play the same episodes. Fisher's exact test (two-sided) judges each pair: killed when the mutant fails
significantly more often, discarded when the original does. The kill rate KR is the share of killed pairs among those that are left; a
mutant is killed when KR >= 1/2, counted in whole pairs and never rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from netmend.errors import UsageError
from netmend.mutate.verdicts import check_level

KILLED, SURVIVED, DISCARDED = "killed", "survived", "discarded"


@dataclass(frozen=True)
class Counts:
    """Episodes of one agent."""

    successes: int
    failures: int

    def __post_init__(self) -> None:
        if self.successes < 0 or self.failures < 0:
            raise UsageError(
                f"Episodes are counted from 0 on, got {self.successes} successes and {self.failures} failures."
            )

    @property
    def episodes(self) -> int:
        return self.successes + self.failures

    @property
    def failure_share(self) -> float:
        return self.failures / self.episodes if self.episodes else 0.0


@dataclass(frozen=True)
class PairOutcome:
    p_value: float  # two-sided
    outcome: str  # KILLED, SURVIVED or DISCARDED


@dataclass(frozen=True)
class KillRate:
    """A mutant's pairs on one test-environment generator."""

    pairs: tuple[PairOutcome, ...]

    @property
    def killed_pairs(self) -> int:
        return sum(pair.outcome == KILLED for pair in self.pairs)

    @property
    def discarded(self) -> int:
        return sum(pair.outcome == DISCARDED for pair in self.pairs)

    @property
    def compared(self) -> int:
        """Pairs that count: all but the discarded ones."""
        return len(self.pairs) - self.discarded

    @property
    def rate(self) -> float:
        """KR. 0 where no pair is left: a mutant that is better in every pair is not killed in any share."""
        return self.killed_pairs / self.compared if self.compared else 0.0

    @property
    def killed(self) -> bool:
        return self.compared > 0 and 2 * self.killed_pairs >= self.compared

    @property
    def better(self) -> bool:
        """The mutant does significantly better in at least half of all pairs."""
        return bool(self.pairs) and 2 * self.discarded >= len(self.pairs)


def successes_verdict(pairs: Sequence[tuple[Counts, Counts]], *, alpha: float = 0.05) -> KillRate:
    """`pairs`: (original, mutant) of each seed."""
    check_level(alpha)
    if not pairs:
        raise UsageError("No pair of agents was given; train at least one original and one mutant.")
    return KillRate(tuple(_judge(original, mutant, alpha) for original, mutant in pairs))


def _judge(original: Counts, mutant: Counts, alpha: float) -> PairOutcome:
    p_value = fisher(original, mutant)
    if p_value >= alpha:
        return PairOutcome(p_value, SURVIVED)
    worse = mutant.failure_share > original.failure_share
    return PairOutcome(p_value, KILLED if worse else DISCARDED)


@lru_cache(maxsize=65_536)
def fisher(original: Counts, mutant: Counts) -> float:
    """Two-sided p-value of the table of successes and failures; 1 where one of the two played no episode."""
    if not original.episodes or not mutant.episodes:
        return 1.0
    from scipy.stats import fisher_exact

    table = [[original.successes, original.failures], [mutant.successes, mutant.failures]]
    return min(1.0, float(fisher_exact(table).pvalue))
