"""Cause: one leaf of the taxonomy as a suspect; and how evidence becomes a confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from netmend.localise.case import Case
from netmend.unit import Family, record, runs
from netmend.vocabulary import LEAVES, Evidence, Fault, Site, Symptom

PROVEN = 4.5  # log-odds of evidence that settles a case by itself (99 %): a call that is not there, a shape that does not fit
STRONG = 2.0
FAIR = 1.0
WEAK = 0.5
# log-odds of a suspect before any evidence: one strong and one weak reason make it more likely than not
PRIOR = -1.5


class Cause:
    """`class ClippingWrong(Cause, code="OPT-CLIP")`: the leaf it accuses of, or the first of them. Its fields are its thresholds.

    The docstring is its page: first line the cause; then why it hurts; then what to do.
    """

    code: ClassVar[str]
    FAULTY: ClassVar[Any]  # at least one, see unit.Run; with the leaf where it differs from `code`

    def __init_subclass__(cls, code: str) -> None:
        cls.code, cls.FAULTY = code, runs(cls.FAULTY)
        CAUSES.register(record(cls))

    def accuse(self, case: Case) -> Iterator[Fault]:
        raise NotImplementedError

    def fault(self, symptom: Symptom, evidence: Iterable[Evidence], **words: Any) -> Fault:
        """As `fault` below; code, place, component and summary are the cause's and the symptom's own unless `words` has others."""
        words["site"] = words.get("site") or symptom.site
        own = {"component": symptom.component, "summary": symptom.message}
        return fault(words.pop("code", self.code), evidence, **{**own, **words})


class _Causes(Family[Cause]):
    """One leaf may have several causes: each sees other signs and words them otherwise. The first stands at the leaf's own code."""

    def register(self, unit: type[Any]) -> type[Any]:
        known = self._units.get(unit.code)
        if known is None or known.__qualname__ == unit.__qualname__:
            return super().register(unit)
        self._units[f"{unit.code} {unit.__name__}"] = unit
        return unit


CAUSES: Family[Cause] = _Causes("netmend.localise.causes")


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


@dataclass(frozen=True)
class Accusation:
    """What a cause says of one symptom; what it leaves out is as the symptom has it."""

    weight: float  # of the symptom itself
    reason: str
    remedy: str
    refutation: str
    evidence: Sequence[Evidence] = ()  # beside the symptom
    component: str = ""
    site: Site | None = None
    summary: str = ""
    related: Iterable[Site | None] = ()
    explains: Iterable[str] = ()
    code: str = ""  # where the leaf is another than the cause's own

    def fault(self, code: str, symptom: Symptom) -> Fault:
        return fault(
            self.code or code,
            [for_symptom(symptom, self.weight), *self.evidence],
            component=self.component or symptom.component,
            site=self.site or symptom.site,
            summary=self.summary or symptom.message,
            reason=self.reason,
            remedy=self.remedy,
            refutation=self.refutation,
            related=self.related,
            explains=self.explains,
        )


def accuses(
    code: str, detector: type[Any], *, once: bool = False, faulty: Any = None
) -> Callable[[Callable[[Case, Symptom], Accusation | None]], type[Cause]]:
    """A cause that words what one detector saw: a function of the case and the symptom, whose docstring is the page.

    It returns None where the symptom is something else's doing. `once`: only the first of several symptoms is worded. Its examples
    are those of the detector, unless `faulty` says which.
    """

    def cause(word: Callable[[Case, Symptom], Accusation | None]) -> type[Cause]:
        def accuse(_: Any, case: Case) -> Iterator[Fault]:
            for symptom in case.of(detector.code)[: 1 if once else None]:
                accusation = word(case, symptom)
                if accusation is not None:
                    yield accusation.fault(code, symptom)

        parts = {
            "accuse": accuse,
            "FAULTY": detector.FAULTY if faulty is None else faulty,
            "__doc__": word.__doc__,
            "__module__": word.__module__,
        }
        return type(word.__name__, (Cause,), parts, code=code)

    return cause
