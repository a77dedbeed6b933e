"""LOOP-BACKWARD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.loop_calls import BackwardMissing as BackwardMissingDetector
from netmend.diagnose.measures.loop import usual_site
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class BackwardMissing:
    """backward() is never called.

    Without it no parameter has a gradient, and optimizer.step() has nothing to apply.
    Call loss.backward() after the loss is computed and before step().
    """

    code: ClassVar[str] = "LOOP-BACKWARD"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D204"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component or "training loop",
                site=symptom.site,
                summary=symptom.message,
                reason="Without gradients, an optimiser step changes nothing.",
                remedy="Insert `loss.backward()` between the loss and the optimiser's step.",
                refutation="A library that bypasses PyTorch's autograd computes the gradients.",
                related=[usual_site(case.trace, "loss")],
                explains=(*NOT_LEARNING, "D201", "D214", "D215"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = BackwardMissingDetector.FAULTY
