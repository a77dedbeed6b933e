"""Verification: two versions of a program compared over seeds, and what may be claimed."""

from __future__ import annotations

from dataclasses import dataclass

PROVEN, PROMISING, NONE = "proven", "promising", "none"


@dataclass(frozen=True)
class Verification:
    """The measure of both sides per seed (None: that training did not end well), the test, the verdict."""

    verdict: str  # proven | promising | none
    seeds: tuple[int, ...] = ()
    before: tuple[float | None, ...] = ()
    after: tuple[float | None, ...] = ()
    p_value: float | None = None
    effect_size: float | None = None
    # mean of the paired differences, in the measure's own unit; above 0 is better
    improvement: float | None = None
    interval: tuple[float, float] | None = None  # 95 %, of the same
    missing: tuple[str, ...] = ()  # what keeps it from being proven
    new_faults: tuple[str, ...] = ()  # causes told afterwards and never before
    new_symptoms: tuple[str, ...] = ()
    steps_before: float = 0.0  # of one training
    steps_after: float = 0.0
    seconds_before: float = 0.0
    seconds_after: float = 0.0
    trainings: int = 0
