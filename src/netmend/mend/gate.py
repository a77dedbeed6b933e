"""Which attempt is recommended, and whether data that nobody has seen agrees.

Validation data chooses, unseen data judges, once and only the chosen one: so its figures are not the best of many.
Of attempts that validation data cannot tell apart, a small patch is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# What a patch does to a set of inputs, counted: failures repaired, guard inputs broken.

Interval = tuple[float, float]


@dataclass(frozen=True)
class Tally:
    """Counts of what was repaired and broken, with those that could have been."""

    repaired: int
    failing: int
    broken: int
    guarded: int
    loss: float = 0.0  # mean on the failing inputs
    drift: float = 0.0  # mean distance of the guard's answers from those before

    @property
    def repaired_share(self) -> float | None:
        """None: there was nothing to repair."""
        return self.repaired / self.failing if self.failing else None

    @property
    def broken_share(self) -> float | None:
        return self.broken / self.guarded if self.guarded else None

    @property
    def repaired_interval(self) -> Interval:
        return interval(self.repaired, self.failing)

    @property
    def broken_interval(self) -> Interval:
        return interval(self.broken, self.guarded)


def interval(count: int, total: int) -> Interval:
    """95 %, exact (Clopper and Pearson): it never claims too much, also of few inputs."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, 0.025)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 0.975)) if count < total else 1.0
    return low, high


PENALTY = 5.0  # one part of the guard broken weighs as much as five parts of the failures repaired
EQUAL = 2.0  # standard errors of the difference, within which two attempts count as equally good
SMALL = 0.25  # of the model's values: patches up to this size are small, whichever is smaller
HOLDS, UNSURE, REFUTED, NOTHING = "holds", "unsure", "refuted", "nothing"
BREAKS, LOSES = "breaks more than the bound", "loses to the baseline"  # flaws of a recommended patch


class Judgeable(Protocol):
    """One attempt."""

    @property
    def validation(self) -> Tally: ...

    @property
    def unseen(self) -> Tally: ...

    @property
    def touched(self) -> int: ...

    @property
    def share(self) -> float: ...


@dataclass(frozen=True)
class Verdict:
    """`at`: the place of the recommended attempt, or of the one that was refuted; None: none was worth it.

    `best`: the place of the strongest one on the data that chooses; a smaller patch that is as good may stand at `at`.
    """

    standing: str
    at: int | None
    reasons: tuple[str, ...] = ()
    flaws: tuple[str, ...] = ()  # on unseen data; whoever is told of the patch is told of them first
    best: int | None = None

    @property
    def recommended(self) -> bool:
        return self.standing in (HOLDS, UNSURE)


def worth(tally: Tally) -> float:
    return (tally.repaired_share or 0.0) - PENALTY * (tally.broken_share or 0.0)


def within(tally: Tally, bound: float) -> bool:
    """Whether something is repaired and no more broken than is allowed."""
    return tally.repaired > 0 and (tally.broken_share or 0.0) <= bound


def verdict_on(tried: Sequence[Judgeable], bound: float, baseline: int | None = None) -> Verdict:
    """Of those that keep to the bound and are as good as the best on validation data: the best small one, or the smallest.

    `baseline`: the place of the plain repair; what does worse than it in both respects is not recommended.
    """
    allowed = [at for at, one in enumerate(tried) if one.touched and within(one.validation, bound)]
    if not allowed:
        return Verdict(NOTHING, None, (_why_nothing([one.validation for one in tried], bound),))
    best = min(allowed, key=lambda at: _order(tried[at]))
    plain = None if baseline is None else tried[baseline]
    equal = [at for at in allowed if _as_good(tried[at], tried[best])]
    if plain is not None:
        equal = [at for at in equal if not _worse_in_both(tried[at].validation, plain.validation)]
    chosen = min(equal or [best], key=lambda at: (_size(tried[at]), *_order(tried[at])))
    rival = None if chosen == baseline or plain is None else plain.unseen
    standing, reasons, flaws = _agrees(tried[chosen], bound, rival)
    return Verdict(standing, chosen, reasons, flaws, best)


def _order(one: Judgeable) -> tuple[float, float, int]:
    return -worth(one.validation), one.validation.drift, one.touched


def _size(one: Judgeable) -> int:
    return 0 if one.share <= SMALL else one.touched


def _as_good(one: Judgeable, best: Judgeable) -> bool:
    behind = worth(best.validation) - worth(one.validation)
    return behind <= EQUAL * math.sqrt(_variance(one) + _variance(best))


def _variance(one: Judgeable) -> float:
    """Of its worth, as far as it rests on a sample: few failing inputs are all learned from, and stand for themselves."""
    tally = one.validation
    repaired, broken = tally.repaired_share or 0.0, tally.broken_share or 0.0
    sampled = repaired * (1 - repaired) / tally.failing if one.unseen.failing else 0.0
    return sampled + PENALTY**2 * broken * (1 - broken) / max(1, tally.guarded)


def _worse_in_both(one: Tally, plain: Tally) -> bool:
    return one.repaired < plain.repaired and one.broken > plain.broken


def _is_beaten(one: Tally, plain: Tally) -> bool:
    """Better in neither, worse in one."""
    no_better = one.repaired <= plain.repaired and one.broken >= plain.broken
    return no_better and (one.repaired, one.broken) != (plain.repaired, plain.broken)


def _agrees(
    one: Judgeable, bound: float, rival: Tally | None
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Refuted where the interval on unseen data excludes what validation promised."""
    unseen, promised = one.unseen, one.validation.repaired_share or 0.0
    against: list[str] = []
    doubts: list[str] = []
    flaws: list[str] = []
    if not unseen.guarded:
        doubts.append("no guard input was left unseen, so nothing tells what else breaks")
    elif unseen.broken_interval[0] > bound:
        against.append(
            f"{unseen.broken} of {unseen.guarded} unseen guard inputs break, more than the bound allows"
        )
    elif unseen.broken / unseen.guarded > bound:
        flaws.append(BREAKS)
        doubts.append(
            f"{unseen.broken} of {unseen.guarded} unseen guard inputs break, above the bound, but inconclusive (needs more inputs)"
        )
    if rival is not None and unseen.failing and unseen.guarded and _is_beaten(unseen, rival):
        flaws.append(LOSES)
        doubts.append(
            f"the baseline does better on unseen data: it repairs {rival.repaired} of {rival.failing} "
            f"and breaks {rival.broken} of {rival.guarded}"
        )
    if not unseen.failing:
        doubts.append("no failing input was left unseen, so nothing tells whether the repair carries over")
    elif not unseen.repaired:
        missed = f"none of {unseen.failing} unseen failures is repaired"
        (against if unseen.repaired_interval[1] < promised else doubts).append(missed)
    if against:
        return REFUTED, tuple(against), ()
    return (UNSURE if doubts else HOLDS), tuple(doubts), tuple(flaws)


def _why_nothing(tallies: Sequence[Tally], bound: float) -> str:
    repairing = [one for one in tallies if one.repaired]
    if not repairing:
        return "no method repaired any failing input of those that choose"
    least = min(one.broken_share or 0.0 for one in repairing)
    return (
        f"every method that repairs something breaks {least:.1%} or more of the guard inputs that choose; "
        f"the bound is {bound:.1%}"
    )
