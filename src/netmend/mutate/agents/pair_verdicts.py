"""Is a mutant killed by a list of starts? Pair by pair, and over the trainings; and which is the mildest of a ladder that is.

µPRL judges each pair of agents by Fisher's test and kills where half of the pairs are worse (`successes_verdict`). That says that *these agents*
differ, and two trainings of one program differ as well: where some trainings come out badly, equal programs are killed far more often than the level says
(`benchmarks/rl_statistics.py`). So the shares of failed starts must also be worse over the trainings, by the test that judges all other mutants
(`mutate/verdicts.py`), which takes the spread between trainings into account.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from netmend.errors import UsageError
from netmend.mutate import interim_analyses as looks
from netmend.mutate.verdicts import check_level, scores_verdict

# Successes and failures of agents: is a mutant of a reinforcement-learning program killed by its test environments?
#
# Original and mutant of one seed play the same episodes. Fisher's exact test (two-sided) judges each pair: killed when the mutant fails
# significantly more often, discarded when the original does. The kill rate KR is the share of killed pairs among those that are left; a
# mutant is killed when KR >= 1/2, counted in whole pairs and never rounded.

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


LEAST_RUNS = 3  # with fewer no difference is significant
LEVEL = 0.05
Pairs = Sequence[tuple[Counts, Counts]]  # original and mutant of each seed


@dataclass(frozen=True)
class PairsVerdict:
    pairs: KillRate
    killed: bool

    @property
    def rate(self) -> float:
        """KR."""
        return self.pairs.rate


def verdict_of(pairs: Pairs) -> PairsVerdict:
    """With all pairs there are."""
    rate = successes_verdict(pairs)
    over = scores_verdict(*_shares(pairs), higher_is_better=True, alpha=LEVEL)
    return PairsVerdict(rate, rate.killed and over.killed)


def decided(pairs: Pairs, runs: int) -> PairsVerdict | None:
    """The verdict as soon as pairs that are still missing (of `runs`) cannot change it, or are hardly needed; None before.

    Looks at half of the pairs and at all share `LEVEL`.
    """
    if not pairs:
        return None
    rate = successes_verdict(pairs)
    missing, left = runs - len(pairs), runs - rate.discarded
    if 2 * (rate.killed_pairs + missing) < left or (missing <= 0 and not rate.killed):
        return PairsVerdict(rate, False)
    plan = looks.Looks(tuple(sorted({max(2, (runs + 1) // 2), runs})), LEVEL)
    if len(pairs) not in plan.pairs:
        return None
    decision = plan.decide(*_shares(pairs), higher_is_better=True)
    if decision == looks.SURVIVED:
        return PairsVerdict(rate, False)
    sure = missing <= 0 or 2 * rate.killed_pairs >= left
    return PairsVerdict(rate, True) if decision == looks.KILLED and sure else None


def _shares(pairs: Pairs) -> tuple[list[float], list[float]]:
    """Of starts that are passed."""
    return [1 - old.failure_share for old, _ in pairs], [1 - new.failure_share for _, new in pairs]


EVERY = 100  # looks: more than any ladder has steps


def mildest(count: int, looks: int) -> Generator[int, bool, int | None]:
    """Asks for indices of a ladder, is told whether they are killed, returns the mildest killed one that it found.

    The extreme first: a ladder of which not even that is killed is given up. Without a limit on looks, all are asked.
    """
    if looks >= EVERY:
        killed = []
        for index in range(count):
            killed.append((yield index))
        return next((index for index, dead in enumerate(killed) if dead), None)
    lower, upper = -1, count - 1
    if not (yield upper):
        return None
    for _ in range(looks - 1):
        if upper - lower <= 1:
            break
        middle = (lower + upper) // 2
        if (yield middle):
            upper = middle
        else:
            lower = middle
    return upper


def chunks(runs: int) -> list[int]:
    """Numbers of pairs after which to look: the fewest that can decide, then one at a time."""
    first = (runs + 1) // 2
    return list(range(first, runs + 1))
