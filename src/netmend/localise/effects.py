"""What faults of the loop lead to: codes of the symptoms that need no cause of their own once such a fault is known."""

from __future__ import annotations

from typing import Any

from netmend.diagnose.measures.progress import main_progress
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Accusation
from netmend.vocabulary import Evidence, Symptom


def codes(text: str) -> tuple[str, ...]:
    """Codes of symptoms, as they are written in a row."""
    return tuple(text.split())


# Too little is learned.
SLOW = ("D102", "D109", "D412", "D501", "D504", "D505", "D508", "D510", "D511", "D606")
# The weights do not follow the loss.
NOT_LEARNING = (*SLOW, "D114", "D512", "D608")
# An output cannot say what the loss asks for, or the loss asks for something else.
STUCK = (*SLOW, "D104", "D105", "D106", "D130", "D503")
# The loss stays, rises or swings.
FAILING = ("D501", "D502", "D503", "D504")
# Steps are too long or go astray.
UNSTABLE = ("D101", "D103", "D104", "D105", "D107", "D110", "D115", "D121", "D130", *FAILING)
ANY = (*NOT_LEARNING, *UNSTABLE, "D106", "D108", "D112", "D506", "D507", "D509")

_WELL = 0.1  # of the loss of the best constant prediction: the task was learned
_BADLY = 0.5


def outcome(case: Case, bad: float = FAIR + WEAK, good: float = -STRONG) -> list[Evidence]:
    """How the run went, as evidence for a fault that keeps a part of the network from learning."""
    course = main_progress(case.trace)
    if course is None or course.last_relative is None:
        stuck = case.first("D501", "D502", "D504")
        return [Evidence(stuck.message, bad, stuck.code, stuck.first_step)] if stuck is not None else []
    share = course.last_relative
    told = f"At the end the loss is {share:.2g} times that of the best constant prediction."
    if share >= _BADLY:
        return [Evidence(told, bad)]
    if share <= _WELL:
        return [Evidence(told, good)]
    return [Evidence(told, bad / 2)] if share >= _BADLY / 2 else []


def stopped(symptom: Symptom, reason: str, remedy: str, weight: float = PROVEN, **words: Any) -> Accusation:
    """What an exception says: it is wrong beyond doubt, at that line unless another is named, and accounts for all that is seen."""
    usual = {"refutation": "", "related": [symptom.site], "explains": ANY}
    return Accusation(weight, reason=reason, remedy=remedy, **usual | words)
