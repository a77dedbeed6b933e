"""Axes that are mixed up."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.axes import AxesSwapped
from netmend.diagnose.detectors.sequences import FirstStepOnly
from netmend.diagnose.examples.probes import mixed
from netmend.library.operations import ATEN_VIEWS
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, Cause, for_symptom
from netmend.localise.effects import ANY
from netmend.localise.lines.values import given_line
from netmend.localise.outcome import harm, relief
from netmend.unit import Run
from netmend.vocabulary import Fault, Site, Symptom

VIEWS = (*ATEN_VIEWS, "unflatten")


class AxesMixed(Cause, code="TSR-SHAPE"):
    """view() or reshape() is used where an axis has to be moved.

    Both only cut the same row of numbers into pieces of other lengths: time steps, channels or samples end up interleaved.
    Use `transpose` or `permute`, followed by `contiguous()` or `reshape` where needed.
    """

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
            yield self.fault(
                symptom,
                [
                    for_symptom(symptom, PROVEN),
                    *(for_symptom(other, PROVEN) for other in also),
                    *harm(case),
                    *relief(case),
                ],
                site=site,
                reason="Reshaping keeps the order in memory, so unrelated values end up next to each other.",
                remedy=_permutation(case, symptom, site),
                refutation="The data in memory really is in the order of the new shape.",
                explains=(*ANY, "D303", "D310", "D311", "D602"),
            )

    FAULTY = (*AxesSwapped.FAULTY, Run("a view over samples", lambda: mixed()))


def _permutation(case: Case, symptom: Symptom, site: Site | None) -> str:
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


_PICKS = ("select", "index", "slice", "gather", "index_select", "unbind", "narrow")


class WrongAxisIndexed(Cause, code="TSR-INDEX"):
    """An index, a mean or another operation over one axis is applied to the axis of the samples.

    With batches first, `out[-1]` is the last sample, not the last step; `x.mean(0)` averages over samples that have nothing to do with each
    other.
    Name the axis that is meant: `out[:, -1]`, `x.mean(1)`.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D601"):
            operation = str(symptom.detail.get("operation", ""))
            if not operation or operation in VIEWS or symptom.detail.get("batch_first") is not None:
                continue
            softmax = "softmax" in operation
            picks = operation in _PICKS or softmax
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN if picks else FAIR), *harm(case), *relief(case)],
                code="ACT-DIM" if softmax else self.code,
                reason="The operation runs over the batch axis, so values of one sample leak into others.",
                remedy=_index_remedy(case, symptom, operation),
                refutation="The first axis is not the batch, or samples are compared on purpose.",
                explains=(*ANY, "D310", "D311", "D408", "D602"),
            )

        for symptom in case.of("D610"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN)],
                reason="The first output of a recurrent or causal layer has seen one step; only the last one has seen the whole sequence.",
                remedy=f"Take the last step in {_where(case, symptom)}: `out[:, -1]` where samples come first, `out[-1]` where time does.",
                refutation="Only the first step is meant to count.",
                explains=(*ANY, "D125", "D310", "D311", "D408", "D602"),
            )

    FAULTY = (
        *FirstStepOnly.FAULTY,
        Run(
            "the last sample instead of the last step",
            lambda: mixed(
                operation="select",
                axis="lost",
                layers_batch_first=True,
                loader=0,
                given=(16, 16),
                output=(16, 1),
                target=(16,),
            ),
        ),
        Run("softmax over the batch", lambda: mixed(operation="softmax"), "ACT-DIM"),
    )


def _where(case: Case, symptom: Symptom) -> str:
    line = case.sources.line(symptom.site) if symptom.site is not None else ""
    return f"`{line}`" if line else "the line"


def _index_remedy(case: Case, symptom: Symptom, operation: str) -> str:
    where = _where(case, symptom)
    if operation in _PICKS:
        return f"Index the intended axis in {where}: `[:, -1]` is the last step if the batch comes first."
    return f"Apply {where} to another axis than the first, which is the batch."
