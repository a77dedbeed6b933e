"""D502 Diverging."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class Diverging:
    """The training loss rose far above its lowest level and stayed there.

    Each step undoes more than it gains. Usual causes: a learning rate that is too high, gradients that are not
    cleared, a loss with the wrong sign, unscaled data, missing clipping in a recurrent network.
    """

    code: ClassVar[str] = "D502"

    rise_limit: float = threshold(
        1.5, "calibrated", "healthy programs end within 1.2 times their lowest block mean"
    )
    rise_limit_unknown: float = threshold(
        10.0,
        "convention",
        "a loss of no known kind (value functions in RL) may grow severalfold in a healthy run",
    )
    least_relative: float = threshold(
        0.4, "calibrated", "a converged loss near zero may double without any harm"
    )
    blocks: int = threshold(3, "published", "several checks in a row, as TheDeepChecker asks")
    least_looks: int = threshold(16, "convention", "fewer measured losses say nothing about a trend")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        limit = self.rise_limit if course.relative is not None else self.rise_limit_unknown
        if found["rise_limit"] < limit or found["least_relative"] < self.least_relative:
            return
        lowest = int(np.argmin(course.losses))
        beyond = [
            index for index in range(lowest, len(course.losses)) if course.losses[index] > limit * course.best
        ]
        yield Symptom(
            self.code,
            f"The loss rose from {course.best:.3g} around step {int(course.steps[lowest])} to {course.last:.3g} at the end.",
            component=course.loss,
            first_step=int(course.steps[beyond[0]]) if beyond else int(course.steps[-1]),
            observed=found["rise_limit"],
            limit=limit,
            detail={"relative": course.last_relative},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if (
            course is None
            or course.looks < self.least_looks
            or len(course.losses) <= self.blocks
            or course.best <= 0
        ):
            return {}
        late = course.losses[-self.blocks :]
        rise = float(late.min() / course.best)
        clear = late.min() > course.best + 4 * float(np.hypot(course.errors.min(), course.errors[-1]))
        relative = 1.0 if course.relative is None else float(course.relative[-self.blocks :].min())
        # Losses that differ by orders of magnitude are noisy by orders of magnitude too; such a rise needs no further test.
        return {"rise_limit": rise if clear or rise > 10 else 1.0, "least_relative": relative}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls", lambda: run_with(falling(200))),
        Run(
            "doubles near zero", lambda: run_with(falling(150, end=0.01, noise=0.001) + flat(80, 0.03, 0.001))
        ),
        Run("rises a little", lambda: run_with(falling(100, end=0.5) + flat(100, 0.6))),
        Run(
            "a value function grows with the reward",
            lambda: run_with([1 + 0.05 * i for i in range(150)], constant=None),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "rises for good",
            lambda: run_with(falling(60, end=0.5) + [0.5 + 0.1 * step for step in range(100)]),
        ),
    )
