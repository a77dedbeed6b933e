"""What was learned from mutants weighs the causes anew: confidences of accused causes change, and a cause that rules missed may be raised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from netmend.localise.case import Case
from netmend.localise.cause import CAUSES, PRIOR
from netmend.unit import page
from netmend.vocabulary import LEAVES, Evidence, Fault, Site
from ranking import Judgement, Model, judge, reasons
from ranking.likely_place import likely_place

HIGHEST = 0.99  # nothing is quite certain, as for rules
_OUTCOMES = ("D501", "D502", "D503", "D504", "D508", "D109", "D110", "D510", "D511")


@dataclass(frozen=True)
class Weighed:
    """The accusations with what was learned, from which confidence one is told, and whether the run failed whatever the cause."""

    accused: tuple[Fault, ...]
    least_confidence: float
    failed: bool = False
    failures: tuple[str, ...] = ()


def weigh(case: Case, accused: Sequence[Fault], failed: bool = False, model: Model | None = None) -> Weighed:
    """Accusations of rules in, the same and perhaps one more out, with the confidences that the learned model gives.

    `failed`: the run has plainly failed already; then the likeliest cause is worth telling however unsure it is.
    """
    judgement = judge(case.trace, case.symptoms, log_odds(accused), model)
    own = tuple(reweighed(accused, judgement))
    failed = failed or judgement.failed
    raised = missed(accused, judgement, failed)
    more = () if raised is None else (_raised(case, raised, judgement),)
    return Weighed((*own, *more), judgement.model.least_confidence, failed, judgement.failures)


def log_odds(accused: Iterable[Fault]) -> dict[str, float]:
    """The rules' log-odds of every accused cause; of several places the surest."""
    found: dict[str, float] = {}
    for fault in accused:
        found[fault.cause] = max(found.get(fault.cause, -math.inf), _odds(fault.confidence))
    return found


def reweighed(accused: Sequence[Fault], judgement: Judgement) -> Iterator[Fault]:
    """Each accusation with the learned confidence of its cause; less sure places of one cause stay less sure."""
    surest: dict[str, float] = {}
    for fault in accused:
        surest[fault.cause] = max(surest.get(fault.cause, 0.0), fault.confidence)
    for fault in accused:
        learned = judgement.confidences[fault.cause] * (fault.confidence / max(surest[fault.cause], 1e-9))
        confidence = round(min(HIGHEST, learned), 3)
        weight = _odds(confidence) - _odds(fault.confidence)
        evidence = Evidence(_message(judgement, fault.cause, weight), round(weight, 2))
        yield replace(fault, confidence=confidence, evidence=(*fault.evidence, evidence))


def missed(accused: Sequence[Fault], judgement: Judgement, failed: bool) -> str | None:
    """The likeliest cause, if no rule accused it and it is sure enough to be told, or the run has failed."""
    cause = judgement.first
    if cause is None or cause in {fault.cause for fault in accused} or cause not in LEAVES:
        return None
    sure = judgement.confidences[cause] >= judgement.model.least_confidence
    return cause if sure or failed else None


def _raised(case: Case, cause: str, judgement: Judgement) -> Fault:
    component, site = likely_place(case, cause)
    found = accusation(cause, judgement, component, site)
    told = [symptom.code for symptom in case.symptoms if symptom.code in _OUTCOMES]
    return replace(found, explains=frozenset(told))


def accusation(cause: str, judgement: Judgement, component: str = "", site: Site | None = None) -> Fault:
    """A fault that only the learned model sees; its words come from the cause's page, its evidence from the features that spoke for it."""
    confidence = round(min(HIGHEST, judgement.confidences[cause]), 3)
    leaf = LEAVES[cause]
    spoke = reasons(judgement, cause)
    total = sum(item.moved for item in spoke) or 1.0
    weight = _odds(confidence) - PRIOR
    evidence = tuple(Evidence(item.message, round(weight * item.moved / total, 2)) for item in spoke)
    unit = CAUSES.classes().get(cause)
    text = page(unit)[1] if unit is not None else ""
    return Fault(
        cause=cause,
        confidence=confidence,
        component=component,
        site=site,
        summary=f"Runs like this one usually had this fault: {leaf.title}.",
        reason=text.partition("\n")[0] or f"{leaf.title[:1].upper()}{leaf.title[1:]}.",
        remedy=" ".join(text.split("\n")[1:])
        or "Change the value set on this line, and check whether the run improves.",
        refutation="Changing it does not improve the run.",
        evidence=evidence or (Evidence("Programs with this fault produce runs like this one.", weight),),
        title=leaf.title,
        aliases=leaf.aliases,
    )


def _message(judgement: Judgement, cause: str, weight: float) -> str:
    share = judgement.shares.get(cause)
    if share is None:
        return "How sure rules are of this cause was compared with how often they were right."
    side = "for" if weight > 0 else "against"
    return f"What was learned from recorded runs speaks {side} it: of those most like this one, {share:.0%} had this fault."


def _odds(confidence: float) -> float:
    sure = min(HIGHEST, max(0.001, confidence))
    return math.log(sure / (1 - sure))
