"""D510 LossMetricDecoupled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import LOSS, falling, run_with
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, TargetFact, Trace


@register
class LossMetricDecoupled:
    """The loss fell well below the constant prediction's, but the accuracy did not move.

    The number that training lowers is not the one that matters. Usual causes: softmax over the wrong axis, a loss that
    does not fit the task, labels and outputs in different order, a shape that broadcasts.
    """

    code: ClassVar[str] = "D510"

    relative_limit: float = threshold(0.8, "convention", "the loss must clearly have learned something")
    gain_limit: float = threshold(0.05, "convention", "accuracy above the most frequent class, at most")
    least_looks: int = threshold(16, "convention", "the metric of few batches is noise")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if (
            course is None
            or course.relative is None
            or course.metric_last is None
            or course.looks < self.least_looks
        ):
            return
        task = next((task for task in trace.tasks if task.name == course.loss), None)
        target = trace.get(TargetFact, course.loss)
        if target is None or not target.class_counts or (task is not None and task.kind == "regression"):
            return
        majority = max(target.class_counts.values()) / max(1, sum(target.class_counts.values()))
        if majority > 0.8 or course.relative[-1] > self.relative_limit or course.metric_best is None:
            return
        if course.metric_best > majority + self.gain_limit:
            return
        yield Symptom(
            self.code,
            f"The loss fell to {course.relative[-1]:.2f} times that of the best constant prediction, but only "
            f"{course.metric_last:.0%} of the predictions are right; always predicting the most frequent class gets {majority:.0%}.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=course.metric_best,
            limit=majority + self.gain_limit,
        )

    @staticmethod
    def _example(metrics: list[float]) -> Trace:
        trace = run_with(falling(100), metrics=metrics)
        facts = {**trace.facts, "target": {LOSS: TargetFact(LOSS, 100, {"0": 40, "1": 30, "2": 30})}}
        return Trace(facts, trace.tables)

    HEALTHY: ClassVar[tuple[Run, ...]]
    FAULTY: ClassVar[tuple[Run, ...]]


LossMetricDecoupled.HEALTHY = (
    Run(
        "both get better", lambda: LossMetricDecoupled._example([0.33 + 0.006 * step for step in range(100)])
    ),
)
LossMetricDecoupled.FAULTY = (
    Run(
        "accuracy stays at chance",
        lambda: LossMetricDecoupled._example([0.3 + 0.05 * (step % 3) for step in range(100)]),
    ),
)
