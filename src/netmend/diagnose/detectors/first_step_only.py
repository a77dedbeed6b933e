"""D610 FirstStepOnly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class FirstStepOnly:
    """What the model says about a sequence depends on its first step only.

    All later steps were exchanged for those of another sample, and the answer stayed the same to the last bit. Usual cause: the first output of
    a recurrent or causal layer is picked (`out[:, 0]`), which has seen one step, where the last one has seen them all.
    """

    code: ClassVar[str] = "D610"

    least_step: int = threshold(
        4, "convention", "parts that start at zero hide later steps until they have been updated"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("first step"):
            if not probe.values.get("alone") or probe.step < self.least_step:
                continue
            steps = probe.values["steps"]
            yield Symptom(
                self.code,
                f"What {probe.component} says about a sequence of {steps} steps depends on the first one only.",
                component=probe.component,
                first_step=probe.step,
                site=probe.site,
                detail=dict(probe.values),
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("all steps matter", lambda: probed("first step", {"alone": False, "steps": 28}, step=16)),
        Run("parts that start at zero", lambda: probed("first step", {"alone": True, "steps": 28}, step=1)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "the first output of a recurrent layer",
            lambda: probed("first step", {"alone": True, "steps": 28, "operation": "select"}, step=16),
        ),
    )
