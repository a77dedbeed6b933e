"""LOOP-MODE-TRAIN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.modes import TrainingInEvaluationMode as TrainingInEvaluationModeDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.effects import UNSTABLE
from netmend.localise.lines.blocks import loop_around
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault


@register
class TrainingInEvaluationMode:
    """The model is trained in evaluation mode.

    Dropout regularises nothing then, and batch norm divides by statistics that nobody keeps up to date.
    Call model.train() at the start of every epoch.
    """

    code: ClassVar[str] = "LOOP-MODE-TRAIN"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D206"):
            evidence = [for_symptom(symptom, PROVEN)]
            if symptom.detail.get("loaded") and not symptom.detail.get("restored"):
                evidence.append(
                    Evidence(
                        "The weights were loaded and the mode never changed, so this may be deliberate.",
                        -2 * STRONG,
                    )
                )
            model = symptom.component
            place = loop_around(case.sources, symptom.site) or symptom.site
            yield fault(
                self.code,
                evidence,
                component=model,
                site=place,
                summary=symptom.message,
                reason="Dropout is off, and batch norm uses running statistics that training does not update.",
                remedy=f"Call `{model}.train()` before the loop over batches, in every epoch.",
                refutation="The network is trained with fixed statistics on purpose.",
                related=[symptom.detail.get("switched"), symptom.site],
                explains=(*UNSTABLE, "D506", "D507", "D605"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = TrainingInEvaluationModeDetector.FAULTY
