"""D503 Oscillating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import Progress
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class Oscillating:
    """The loss swings up and down by much more than the noise of single batches explains.

    Steps overshoot the minimum and come back. Usual causes: a learning rate or momentum that is too high, very small batches,
    data that comes sorted instead of shuffled.
    """

    code: ClassVar[str] = "D503"

    swing_limit: float = threshold(
        0.35,
        "calibrated",
        "swings of block means in the second half of healthy programs stay below 0.2 of the mean",
    )
    noise_limit: float = threshold(
        3.0, "convention", "standard errors that a swing must exceed, so that it is not noise"
    )
    least_relative: float = threshold(0.3, "calibrated", "near zero the relative swing means nothing")
    least_blocks: int = threshold(8, "convention", "fewer blocks cannot show a swing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        if found["swing_limit"] < self.swing_limit or found["least_relative"] < self.least_relative:
            return
        yield Symptom(
            self.code,
            f"In the second half of the run the loss kept swinging up and down by {found['swing_limit']:.0%} of its mean.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=found["swing_limit"],
            limit=self.swing_limit,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if course is None or len(course.losses) < self.least_blocks:
            return {}
        relative = (
            1.0 if course.relative is None else float(np.median(course.relative[len(course.relative) // 2 :]))
        )
        return {"swing_limit": self._swing(course), "least_relative": relative}

    def _swing(self, course: Progress) -> float:
        """Mean height of significant turns between block means of the second half, relative to their mean."""
        half = slice(len(course.losses) // 2, None)
        means, errors = course.losses[half], course.errors[half]
        changes = np.diff(means)
        noise = np.hypot(errors[1:], errors[:-1])
        clear = np.where(np.abs(changes) > self.noise_limit * noise, np.sign(changes), 0.0)
        signs = clear[clear != 0]
        turns = int((np.diff(signs) != 0).sum()) if len(signs) > 1 else 0
        level = float(np.abs(means).mean())
        return float(np.abs(changes[clear != 0]).mean() / level) if turns >= 2 and level > 0 else 0.0

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls", lambda: run_with(falling(200))),
        Run("noisy batches", lambda: run_with(flat(200, 0.6, 0.15))),
        Run("too short", lambda: run_with(flat(20))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "swings by a factor of two",
            lambda: run_with(
                [(1.6 if (step // 10) % 2 else 0.7) + 0.02 * (-1) ** step for step in range(200)]
            ),
        ),
    )
