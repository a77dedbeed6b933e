"""D209 SchedulerOrder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.unit import Run, threshold
from netmend.vocabulary import Call, Symptom, Trace


@register
class SchedulerOrder:
    """The learning-rate scheduler was stepped before the optimiser had taken its first step.

    The first value of the schedule is skipped and every later one comes a step or an epoch too early. It seldom costs much.
    Usual cause: scheduler.step() at the top of the loop, or before optimizer.step().
    """

    code: ClassVar[str] = "D209"

    earliest: int = threshold(
        0, "exact", "the order is wrong when the very first step is preceded by the scheduler"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for pattern in trace.patterns:
            if pattern.spans[:1] and pattern.spans[0][0] <= self.earliest:
                before: list[Call] = []
                for call in pattern.calls:
                    if call.what == "step":
                        break
                    before.append(call)
                early = next((call for call in before if call.what == "scheduler"), None)
                # With accumulated gradients a scheduler that counts batches comes before the first step, as it should.
                if early is not None and sum(c.times for c in before if c.what == "backward") == 1:
                    yield Symptom(
                        self.code,
                        f"`{early.component or 'scheduler'}` was stepped before the optimiser's first step.",
                        component=early.component,
                        first_step=0,
                        site=early.site,
                        detail={"each_step": pattern.steps > 1},
                    )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "after every step",
            lambda: trained(
                optimizer(),
                loop=[
                    ("zero_grad forward=train,grad backward step:optimizer", 1),
                    ("scheduler:StepLR zero_grad forward=train,grad backward step:optimizer", 20),
                ],
            ),
        ),
        Run(
            "counts batches while gradients are accumulated",
            lambda: trained(
                optimizer(), loop=[("forward=train,grad*4 backward*4 scheduler*4 step:optimizer", 20)]
            ),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "before every step",
            lambda: trained(
                optimizer(),
                loop=[("zero_grad forward=train,grad backward scheduler:StepLR step:optimizer", 20)],
            ),
        ),
    )
