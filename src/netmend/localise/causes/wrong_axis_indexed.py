"""TSR-INDEX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.sequences import FirstStepOnly
from netmend.diagnose.measures.probe_examples import mixed
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, fault, for_symptom, register
from netmend.localise.causes.axes_mixed import VIEWS
from netmend.localise.effects import ANY
from netmend.localise.outcome import harm, relief
from netmend.unit import Run
from netmend.vocabulary import Fault, Symptom

_PICKS = ("select", "index", "slice", "gather", "index_select", "unbind", "narrow")


@register
class WrongAxisIndexed:
    """An index, a mean or another operation over one axis is applied to the axis of the samples.

    With batches first, `out[-1]` is the last sample, not the last step; `x.mean(0)` averages over samples that have nothing to do with each
    other.
    Name the axis that is meant: `out[:, -1]`, `x.mean(1)`.
    """

    code: ClassVar[str] = "TSR-INDEX"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D601"):
            operation = str(symptom.detail.get("operation", ""))
            if not operation or operation in VIEWS or symptom.detail.get("batch_first") is not None:
                continue
            softmax = "softmax" in operation
            picks = operation in _PICKS or softmax
            yield fault(
                "ACT-DIM" if softmax else self.code,
                [for_symptom(symptom, PROVEN if picks else FAIR), *harm(case), *relief(case)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="The operation runs over the batch axis, so values of one sample leak into others.",
                remedy=_remedy(case, symptom, operation),
                refutation="The first axis is not the batch, or samples are compared on purpose.",
                explains=(*ANY, "D310", "D311", "D408", "D602"),
            )

        for symptom in case.of("D610"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="The first output of a recurrent or causal layer has seen one step; only the last one has seen the whole sequence.",
                remedy=f"Take the last step in {_where(case, symptom)}: `out[:, -1]` where samples come first, `out[-1]` where time does.",
                refutation="Only the first step is meant to count.",
                explains=(*ANY, "D125", "D310", "D311", "D408", "D602"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
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


def _remedy(case: Case, symptom: Symptom, operation: str) -> str:
    where = _where(case, symptom)
    if operation in _PICKS:
        return f"Index the intended axis in {where}: `[:, -1]` is the last step if the batch comes first."
    return f"Apply {where} to another axis than the first, which is the batch."
