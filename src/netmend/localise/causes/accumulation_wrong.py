"""LOOP-ACCUM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.accumulation import GradientsClearedBetweenBatches
from netmend.diagnose.measures.wiring import stepped_optimizers
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, UNSTABLE, outcome
from netmend.localise.lines.blocks import writes_gradients
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault

SCALED = ("SGD", "ASGD", "Rprop")  # optimisers whose step is as long as the gradient


@register
class AccumulationWrong:
    """Gradient accumulation is wrong: gradients are cleared too often, or added up without dividing.

    Cleared between the batches of one step, all but the last batch are lost; added up as full means, the step is too long.
    Clear after the step, and divide each loss by the number of batches.
    """

    code: ClassVar[str] = "LOOP-ACCUM"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D207"):
            evidence = [for_symptom(symptom, PROVEN)]
            if writes_gradients(case.sources, symptom.site):
                evidence.append(Evidence("The program combines gradients itself.", -2 * PROVEN))
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Only the last batch counts, so the step is as noisy as with a single batch.",
                remedy=f"Move `{symptom.component}.zero_grad()` after the optimiser's step.",
                refutation="The program copied these gradients before they were cleared.",
                related=[symptom.detail.get("backward"), symptom.detail.get("step")],
                explains=(*NOT_LEARNING, "D208", "D313", "D503"),
            )
        for symptom in case.of("D208"):
            kinds = {optimizer.kind for optimizer in stepped_optimizers(case.trace)}
            evidence = [for_symptom(symptom, WEAK)]
            if not kinds.intersection(SCALED):
                evidence.append(
                    Evidence(
                        "This optimiser divides by the gradient's size, so it hardly matters.", -STRONG - FAIR
                    )
                )
            wild = case.first("D502", "D503", "D110", "D107", "D101", "D103")
            if wild is not None:
                evidence.append(
                    for_symptom(wild, 2 * STRONG if (symptom.observed or 0) >= 4 else STRONG + FAIR)
                )
            evidence += outcome(case, bad=WEAK)
            batches = int(symptom.observed or 2)
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason=f"Each step is {batches} times as long as the learning rate implies.",
                remedy=f"Divide the loss by {batches} before `backward()`.",
                refutation=f"The learning rate was chosen for sums of {batches} batches.",
                explains=UNSTABLE,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (*GradientsClearedBetweenBatches.FAULTY,)
