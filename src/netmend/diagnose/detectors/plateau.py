"""D504 Plateau."""

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
class Plateau:
    """The loss fell at first and then stood still at a high level.

    Noise in the data can make that the best there is, so a plateau alone is no fault; it lends weight to causes that explain it.
    Usual causes: a schedule that stops the learning rate, too small a network, a missing non-linearity, an
    output that cannot take the target's values, strong regularisation.
    """

    code: ClassVar[str] = "D504"

    level_limit: float = threshold(0.3, "convention", "below that most of what can be learned has been")
    nothing_learned: float = threshold(0.95, "convention", "above that it is D501's matter")
    flat_limit: float = threshold(0.03, "convention", "change over the second half, relative to the level")
    least_blocks: int = threshold(6, "convention", "fewer blocks cannot show a standstill")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.relative is None or len(course.losses) < self.least_blocks:
            return
        half = course.relative[len(course.relative) // 2 :]
        level = float(half.mean())
        change = float(half[: len(half) // 2].mean() - half[-(len(half) // 2) :].mean())
        noise = 2 * float(np.median(course.errors)) / max(course.last, 1e-30) * level
        if not self.level_limit < level < self.nothing_learned or abs(change) > max(
            self.flat_limit * level, noise
        ):
            return
        yield Symptom(
            self.code,
            f"The loss stayed at {level:.2f} times that of the best constant prediction for the second half of the run.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=level,
            limit=self.level_limit,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls to a low level", lambda: run_with(falling(200))),
        Run("still falling", lambda: run_with([1.0 * 0.995**step for step in range(200)])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("stands still half way", lambda: run_with(falling(100, end=0.6) + flat(200, 0.6))),
    )
