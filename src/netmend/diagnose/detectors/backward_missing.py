"""D204 BackwardMissing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop import by_optimizer, first_step, is_training, stepping
from netmend.diagnose.measures.loop_examples import Layer, network, optimizer, trained
from netmend.diagnose.measures.wiring import used_gradients
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace

_STEP_ONLY = ("zero_grad:optimizer forward:model=train,grad loss step:optimizer", 20)


@register
class BackwardMissing:
    """The optimiser steps again and again although no gradient is ever computed.

    Without backward() every `.grad` stays empty and a step changes nothing.
    Usual causes: loss.backward() forgotten, or commented out while trying something.
    """

    code: ClassVar[str] = "D204"

    least_steps: int = threshold(4, "convention", "the loop is known exactly; fewer steps may be a warm-up")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        usual = [pattern for pattern in stepping(trace) if any(is_training(call) for call in pattern.calls)]
        for name, own in by_optimizer(usual).items():
            steps = [call for pattern in own for call in pattern.calls if call.what == "step"]
            count = sum(pattern.steps for pattern in own)
            if count < self.least_steps or any(call.detail for call in steps):
                continue  # a closure, an update by hand or a skipped step computes its gradients in another way
            within = own if len(trace.optimizers) > 1 else trace.patterns
            if any(call.what == "backward" for pattern in within for call in pattern.calls):
                continue
            if used_gradients(trace, name):
                continue
            yield Symptom(
                self.code,
                f"The optimiser took {count} steps, but backward() was never called and no parameter ever had a gradient.",
                component=name,
                first_step=first_step(own),
                observed=0.0,
                limit=1.0,
                site=steps[0].site,
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the usual loop", lambda: trained(optimizer())),
        Run(
            "gradients written by hand",
            lambda: trained(optimizer(), *network(Layer("fc")), loop=[_STEP_ONLY]),
        ),
        Run("too short to judge", lambda: trained(optimizer(), loop=[(_STEP_ONLY[0], 3)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one of two networks that take turns",
            lambda: trained(
                replace(optimizer(), name="of_one"),
                replace(optimizer(), name="of_other"),
                *network(
                    Layer("one", optimizer="of_one"),
                    Layer("other", optimizer="of_other", gradient=None, update=0.0),
                ),
                loop=[
                    ("zero_grad:of_one forward:model=train,grad loss backward step:of_one", 20),
                    ("zero_grad:of_other forward:model=train,grad loss step:of_other", 20),
                ],
            ),
        ),
        Run(
            "never called",
            lambda: trained(optimizer(), *network(Layer("fc", gradient=None)), loop=[_STEP_ONLY]),
        ),
    )
