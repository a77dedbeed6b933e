"""Is a mutant killed by a list of starts? Pair by pair, and over the trainings; and which is the mildest of a ladder that is.

µPRL judges each pair of agents by Fisher's test and kills where half of the pairs are worse (`mutate/counts.py`). That says that *these agents*
differ, and two trainings of one program differ as well: where some trainings come out badly, equal programs are killed far more often than the level says
(`benchmarks/rl_statistics.py`). So the shares of failed starts must also be worse over the trainings, by the test that judges all other mutants
(`mutate/verdicts.py`), which takes the spread between trainings into account.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from netmend.mutate import interim_analyses as looks
from netmend.mutate.counts import Counts, KillRate, successes_verdict
from netmend.mutate.verdicts import scores_verdict

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


def verdict_of(pairs: Pairs, alpha: float = LEVEL) -> PairsVerdict:
    """With all pairs there are."""
    rate = successes_verdict(pairs)
    over = scores_verdict(*_shares(pairs), higher_is_better=True, alpha=alpha)
    return PairsVerdict(rate, rate.killed and over.killed)


def decided(pairs: Pairs, runs: int, alpha: float = LEVEL) -> PairsVerdict | None:
    """The verdict as soon as pairs that are still missing (of `runs`) cannot change it, or are hardly needed; None before.

    Looks at half of the pairs and at all share `alpha`.
    """
    if not pairs:
        return None
    rate = successes_verdict(pairs)
    missing, left = runs - len(pairs), runs - rate.discarded
    if 2 * (rate.killed_pairs + missing) < left or (missing <= 0 and not rate.killed):
        return PairsVerdict(rate, False)
    plan = looks.Looks(tuple(sorted({max(2, (runs + 1) // 2), runs})), alpha)
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
