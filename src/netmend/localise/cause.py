"""Cause: one leaf of the taxonomy as a suspect; and how evidence becomes a confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Protocol

from netmend.localise.case import Case
from netmend.unit import Family, Run, record
from netmend.vocabulary import LEAVES, Evidence, Fault, Site, Symptom

PROVEN = 4.5  # log-odds of evidence that settles a case by itself (99 %): a call that is not there, a shape that does not fit
STRONG = 2.0
FAIR = 1.0
WEAK = 0.5
PRIOR = (
    -1.5
)  # log-odds of a suspect before any evidence: one strong and one weak reason make it more likely than not


class Cause(Protocol):
    """A class whose fields are its thresholds; `register` makes it a frozen record. The docstring is its page: first line the cause; then why it hurts; then what to do."""

    code: ClassVar[str]  # the leaf it accuses of, or the first of them
    FAULTY: ClassVar[tuple[Run, ...]]  # at least one; `Run.code` where the leaf differs from `code`

    def accuse(self, case: Case) -> Iterator[Fault]: ...


CAUSES: Family[Cause] = Family("netmend.localise.causes")


def register(unit: type[Any]) -> type[Any]:
    return CAUSES.register(record(unit))


def for_symptom(symptom: Symptom, weight: float) -> Evidence:
    """A symptom as a reason; its own sentence is the message."""
    return Evidence(symptom.message, weight, symptom.code, symptom.first_step)


def confidence(evidence: Iterable[Evidence], prior: float = PRIOR) -> float:
    """The share of such cases in which the cause would be true, from the sum of all log-odds; never quite certain."""
    total = prior + sum(item.weight for item in evidence)
    return min(0.99, 1 / (1 + math.exp(-max(-30.0, min(30.0, total)))))


def fault(
    code: str,
    evidence: Iterable[Evidence],
    *,
    component: str,
    site: Site | None,
    summary: str,
    reason: str,
    remedy: str,
    refutation: str,
    related: Iterable[Site | None] = (),
    explains: Iterable[str] = (),
    prior: float = PRIOR,
) -> Fault:
    """A fault whose confidence follows from its evidence. It explains at least the symptoms that speak for it."""
    reasons = tuple(evidence)
    steps = [item.step for item in reasons if item.step is not None and item.weight > 0]
    leaf = LEAVES[code]
    others = dict.fromkeys(place for place in related if place is not None and place != site)
    return Fault(
        cause=code,
        confidence=round(confidence(reasons, prior), 3),
        component=component,
        site=site,
        summary=summary,
        reason=reason,
        remedy=remedy,
        refutation=refutation,
        evidence=reasons,
        related=tuple(others),
        first_step=min(steps, default=None),
        explains=frozenset(explains) | {item.symptom for item in reasons if item.symptom and item.weight > 0},
        title=leaf.title,
        aliases=leaf.aliases,
    )
