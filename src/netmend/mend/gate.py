"""Which attempt is recommended, and whether data that nobody has seen agrees.

Validation data chooses, unseen data judges, once and only the chosen one: so its figures are not the best of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from netmend.mend.tally import Tally

PENALTY = 5.0  # one part of the guard broken weighs as much as five parts of the failures repaired
HOLDS, UNSURE, REFUTED, NOTHING = "holds", "unsure", "refuted", "nothing"


class Judgeable(Protocol):
    """One attempt."""

    @property
    def validation(self) -> Tally: ...

    @property
    def unseen(self) -> Tally: ...

    @property
    def touched(self) -> int: ...


@dataclass(frozen=True)
class Verdict:
    """`at`: the place of the recommended attempt, or of the one that was refuted; None: none was worth it."""

    standing: str
    at: int | None
    reasons: tuple[str, ...] = ()

    @property
    def recommended(self) -> bool:
        return self.standing in (HOLDS, UNSURE)


def worth(tally: Tally) -> float:
    return (tally.repaired_share or 0.0) - PENALTY * (tally.broken_share or 0.0)


def within(tally: Tally, bound: float) -> bool:
    """Whether something is repaired and no more broken than is allowed."""
    return tally.repaired > 0 and (tally.broken_share or 0.0) <= bound


def verdict_on(tried: Sequence[Judgeable], bound: float) -> Verdict:
    """The best on validation data that keeps to the bound.

    Few inputs make equal counts: then the one that moves the guard's answers least, the smaller patch, the earlier one.
    """
    allowed = [at for at, one in enumerate(tried) if one.touched and within(one.validation, bound)]
    if not allowed:
        return Verdict(NOTHING, None, (_why_nothing([one.validation for one in tried], bound),))
    best = min(allowed, key=lambda at: _order(tried[at]))
    standing, reasons = _agrees(tried[best], bound)
    return Verdict(standing, best, reasons)


def _order(one: Judgeable) -> tuple[float, float, int]:
    return -worth(one.validation), one.validation.drift, one.touched


def _agrees(one: Judgeable, bound: float) -> tuple[str, tuple[str, ...]]:
    """Refuted where the interval on unseen data excludes what validation promised."""
    unseen, promised = one.unseen, one.validation.repaired_share or 0.0
    against: list[str] = []
    doubts: list[str] = []
    if not unseen.guarded:
        doubts.append("no guard input was left unseen, so nothing tells what else breaks")
    elif unseen.broken_interval[0] > bound:
        against.append(
            f"{unseen.broken} of {unseen.guarded} unseen guard inputs break, more than the bound allows"
        )
    elif unseen.broken / unseen.guarded > bound:
        doubts.append(
            f"{unseen.broken} of {unseen.guarded} unseen guard inputs break, above the bound, but inconclusive (needs more inputs)"
        )
    if not unseen.failing:
        doubts.append("no failing input was left unseen, so nothing tells whether the repair carries over")
    elif not unseen.repaired:
        missed = f"none of {unseen.failing} unseen failures is repaired"
        (against if unseen.repaired_interval[1] < promised else doubts).append(missed)
    if against:
        return REFUTED, tuple(against)
    return (UNSURE, tuple(doubts)) if doubts else (HOLDS, ())


def _why_nothing(tallies: Sequence[Tally], bound: float) -> str:
    repairing = [one for one in tallies if one.repaired]
    if not repairing:
        return "no method repaired any failing input of those that choose"
    least = min(one.broken_share or 0.0 for one in repairing)
    return (
        f"every method that repairs something breaks {least:.1%} or more of the guard inputs that choose; "
        f"the bound is {bound:.1%}"
    )
