"""Is a mutant killed by a list of starts? Pair by pair, and over the trainings.

µPRL judges each pair of agents by Fisher's test and kills where half of the pairs are worse (`mutate/counts.py`). That says that *these agents*
differ, and two trainings of one program differ as well: where some trainings come out badly, equal programs are killed far more often than the level says
(`benchmarks/rl_statistics.py`). So the shares of failed starts must also be worse over the trainings, by the test that judges all other mutants
(`mutate/verdicts.py`), which takes the spread between trainings into account.
"""

from __future__ import annotations

from collections.abc import Sequence
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
