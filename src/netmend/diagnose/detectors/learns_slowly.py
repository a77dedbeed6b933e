"""D508 LearnsSlowly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class LearnsSlowly:
    """The loss falls steadily, in nearly a straight line, but has hardly come down at the end.

    A healthy curve falls fast at first and bends. A straight one means that every step does the same small amount: the steps are
    too small for the distance. Usual causes: a learning rate that is too low, clipping that is too tight, an
    optimiser whose steps are tiny by construction.
    """

    code: ClassVar[str] = "D508"

    fall_limit: float = threshold(
        0.35, "convention", "share of the first loss that is gone at the end, at most"
    )
    least_fall: float = threshold(1e-4, "convention", "share of the first loss below which nothing fell")
    bend_limit: float = threshold(
        0.35, "convention", "the first half of a straight line brings half of the fall"
    )
    least_looks: int = threshold(24, "convention", "a bend needs points to be seen")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.looks < self.least_looks or len(course.losses) < 4 or course.first <= 0:
            return
        first, last = float(course.losses[0]), course.last
        noise = float(np.hypot(course.errors[0], course.errors[-1]))
        fall = first - last
        if fall < 3 * noise or fall / first > self.fall_limit or fall / first < self.least_fall:
            return
        position = np.searchsorted(course.steps, course.last_step / 2)
        late = float(course.losses[min(int(position), len(course.losses) - 2)]) - last
        if late / fall < self.bend_limit:
            return
        yield Symptom(
            self.code,
            f"The loss fell in nearly a straight line, from {first:.3g} to only {last:.3g} in {course.last_step + 1} steps.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=fall / first,
            limit=self.fall_limit,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls and bends", lambda: run_with(falling(200))),
        Run("falls, then stands", lambda: run_with(falling(100, end=0.8) + flat(200, 0.8))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a straight line",
            lambda: run_with([1.2 - 0.0005 * step + 0.005 * (-1) ** step for step in range(300)]),
        ),
    )
