"""D501 NotLearning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import (
    constant_of,
    objective,
    relative_to,
    right_more_often_than_chance,
)
from netmend.diagnose.measures.progress import Progress
from netmend.unit import Run, threshold
from netmend.vocabulary import LossFact, Symptom, Trace

_CLEARLY = 0.97  # of the constant prediction's loss: more than a network gains that hardly moves


@register
class NotLearning:
    """The loss never got clearly below that of the best constant prediction.

    A network that answers the same for every input (the class frequencies, the mean) reaches that loss without
    looking at the data. Usual causes: a learning rate far off, a cut gradient, a loss or output that does not
    fit, dead or saturated units, labels that have nothing to do with the inputs.
    """

    code: ClassVar[str] = "D501"

    relative_limit: float = threshold(
        0.95, "calibrated", "healthy programs end below 0.9 of the constant prediction's loss, most below 0.5"
    )
    least_looks: int = threshold(20, "convention", "fewer measured losses say nothing about a trend")
    least_steps: int = threshold(100, "convention", "learning may not have begun before")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        lowest = self.extremes(trace).get("relative_limit")
        if course is None or course.relative is None or lowest is None or lowest < self.relative_limit:
            return
        loss = trace.get(LossFact, course.loss)
        if loss is not None and loss.settings.get("reduction") == "none":
            return  # weighted by the program itself (rewards, masks): the plain mean is not what is trained
        if right_more_often_than_chance(trace, course) or _under_way(course):
            return
        last = float(course.relative[-1])
        yield Symptom(
            self.code,
            f"After {course.last_step + 1} steps the loss was {last:.2f} times that of the best constant prediction "
            f"(class frequencies or mean), and at best {min(last, lowest):.2f} times.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=lowest,
            limit=self.relative_limit,
            detail={"last": last, "lowest": lowest},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if (
            course is None
            or course.relative is None
            or course.looks < self.least_looks
            or trace.run.steps < self.least_steps
        ):
            return {}
        evaluated = [
            float(value)
            for table in trace.tables_of("evaluation")
            for value in relative_to(table.column("loss"), table.column("constant_loss"))
            if table.component.partition("@")[0] == course.loss.partition("@")[0]
        ]
        # The mean of the last blocks is steadier than one; an evaluation that is better counts for the program.
        late = float(course.relative[-max(1, len(course.relative) // 5) :].mean())
        return {"relative_limit": min([late, float(course.relative.min()) + 0.02, *evaluated])}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("learns", lambda: run_with(falling(200))),
        Run("learns a little, from very noisy data", lambda: run_with(flat(100, 1.0) + flat(200, 0.92))),
        Run("slow, but below it and still falling", lambda: run_with(_slope(1.17, 0.94))),
        Run("too short to judge", lambda: run_with(flat(12))),
        Run("no constant prediction is known for this loss", lambda: run_with(flat(200), constant=None)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("stays at the constant prediction", lambda: run_with(flat(200))),
        Run("falls towards the constant prediction", lambda: run_with(_slope(1.3, 1.0) + flat(200, 1.0))),
    )


def _slope(start: float, end: float, steps: int = 400) -> list[float]:
    return [start + (end - start) * step / steps + 0.02 * (-1) ** step for step in range(steps)]


def _under_way(course: Progress) -> bool:
    """Whether the loss has come below that of the constant prediction and was still falling: slow is not stuck."""
    assert course.relative is not None
    quarter = len(course.losses) // 4
    constant = constant_of(course)
    if not quarter or constant is None:
        return False
    late, before = course.losses[-quarter:], course.losses[-2 * quarter : -quarter]
    error = float(np.hypot(course.errors[-quarter:].mean(), course.errors[-2 * quarter : -quarter].mean()))
    error /= quarter**0.5
    falls = float(before.mean() - late.mean())
    return falls > 4 * error and float(late[-1]) < _CLEARLY * constant
