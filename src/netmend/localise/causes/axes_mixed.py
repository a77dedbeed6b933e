"""TSR-SHAPE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.axes import AxesSwapped
from netmend.diagnose.measures.probe_examples import mixed
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import ANY
from netmend.localise.lines.values import given_line
from netmend.localise.outcome import harm, relief
from netmend.unit import Run
from netmend.vocabulary import Fault, Site, Symptom

VIEWS = ("view", "unsafe_view", "reshape", "reshape_alias", "unflatten")


@register
class AxesMixed:
    """view() or reshape() is used where an axis has to be moved.

    Both only cut the same row of numbers into pieces of other lengths: time steps, channels or samples end up interleaved.
    Use `transpose` or `permute`, followed by `contiguous()` or `reshape` where needed.
    """

    code: ClassVar[str] = "TSR-SHAPE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        told: set[str] = set()
        for symptom in case.of("D609", "D601"):
            if symptom.code == "D601" and symptom.detail.get("operation") not in VIEWS:
                continue
            if str(symptom.site) in told:
                continue
            told.add(str(symptom.site))
            seen_at_loss = bool(symptom.detail.get("classes"))
            site = given_line(case.sources, symptom.site) if seen_at_loss else symptom.site
            also = [s for s in case.of("D601") if s is not symptom and s.site == symptom.site]
            yield fault(
                self.code,
                [
                    for_symptom(symptom, PROVEN),
                    *(for_symptom(other, PROVEN) for other in also),
                    *harm(case),
                    *relief(case),
                ],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="Reshaping keeps the order in memory, so unrelated values end up next to each other.",
                remedy=_remedy(case, symptom, site),
                refutation="The data in memory really is in the order of the new shape.",
                explains=(*ANY, "D303", "D310", "D311", "D602"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *AxesSwapped.FAULTY,
        Run("a view over samples", lambda: mixed()),
    )


def _remedy(case: Case, symptom: Symptom, site: Site | None) -> str:
    """The permutation that was meant, where sizes tell it."""
    line = case.sources.line(site) if site is not None else ""
    where = f"`{line}`" if line else "this view"
    before, after = symptom.detail.get("before"), symptom.detail.get("after")
    if before is None or after is None or len(set(before)) != len(before):
        return f"Move the axis with `transpose` or `permute` instead of {where}."
    if symptom.detail.get("classes") and len(after) == 2:
        last = list(before).index(after[1])
        order = ", ".join(str(axis) for axis in (*(a for a in range(len(before)) if a != last), last))
        return (
            f"Move the class axis to the end first, `permute({order}).reshape(-1, {after[1]})`, in {where}."
        )
    if sorted(before) != sorted(after):
        return f"Move the axis with `transpose` or `permute` instead of {where}."
    order = ", ".join(str(list(before).index(size)) for size in after)
    return f"Use `permute({order})` instead of {where}."
