"""HYP-EPOCH-MANY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.evaluation_curves import Overtraining
from netmend.diagnose.measures.data import epochs
from netmend.diagnose.measures.loop import usual_site
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.epoch_loop import epoch_loop
from netmend.localise.outcome import level
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault


@register
class TooManyEpochs:
    """Training continues long after the best evaluation.

    From some point on the network only learns its training samples by heart, and answers new ones worse.
    Stop early, or keep the weights of the best evaluation.
    """

    code: ClassVar[str] = "HYP-EPOCH-MANY"

    many_epochs: float = threshold(
        60, "convention", "passes over the data that are many for a network of any size"
    )

    unlearned: float = threshold(0.9, "convention", "a training loss that high was not learned by heart")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D507"):
            evidence = [for_symptom(symptom, STRONG)]
            passes = epochs(case.trace)
            if passes is not None and passes >= self.many_epochs:
                evidence.append(Evidence(f"Every training sample was seen about {passes:.0f} times.", FAIR))
            if (broken := case.first("D502", "D110")) is not None:
                evidence.append(Evidence("The training loss itself rose.", -STRONG, broken.code))
            reached = level(case)
            if reached is not None and reached > self.unlearned:
                text = f"The training loss itself ended at {reached:.2f} of that of the best constant prediction."
                evidence.append(Evidence(text, -STRONG))
            loop = epoch_loop(case.sources, case.trace)
            yield fault(
                self.code,
                evidence,
                component="training loop",
                site=usual_site(case.trace, "step") if loop is None else loop.count,
                summary=symptom.message,
                reason="The later part of the run makes predictions on new samples worse, and costs time.",
                remedy=f"Stop around step {symptom.first_step}, or keep the weights of the best evaluation and restore them at the end.",
                refutation="Your metric keeps improving although the evaluation loss rises.",
                related=() if loop is None else (loop.loop,),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = Overtraining.FAULTY
