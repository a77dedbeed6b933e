"""TSR-SQUEEZE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.loss_inputs import SilentBroadcast
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, objective_line, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class ShapesBroadcast:
    """Predictions and targets differ by an axis of length one and are broadcast against each other.

    [N, 1] minus [N] is an N × N table: every prediction is compared with all targets, and the best it can do is their mean.
    Bring both to the same shape before the loss, naming the axis: `squeeze(1)` or `unsqueeze(1)`.
    """

    code: ClassVar[str] = "TSR-SQUEEZE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D407"):
            first, second = symptom.detail["first"], symptom.detail["second"]
            change = (
                "`.squeeze(1)` to the predictions"
                if len(first) > len(second)
                else "`.squeeze(1)` to the targets"
            )
            raised = bool(symptom.detail.get("raised"))
            models = [model.called for model in case.trace.models]
            site = objective_line(case, symptom.site)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="The loss compares elementwise, so predictions and targets must have the same shape."
                if raised
                else "Each prediction is compared with the targets of all samples, so the model learns their mean.",
                remedy=f"Add {change} before {text_at(case, site)}, so that both have the same shape.",
                refutation="The loss compares all pairs of samples on purpose.",
                related=[symptom.site, *models],
                explains=(*STUCK, "D406", "D412", "D701"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = SilentBroadcast.FAULTY
