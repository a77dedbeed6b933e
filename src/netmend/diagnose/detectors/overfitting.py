"""D506 Overfitting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import constant_of, evaluations, objective, smooth
from netmend.diagnose.measures.progress import Progress
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class Overfitting:
    """The evaluation loss rose far above its best while the training loss went on falling.

    The network learns the training samples by heart. Usual causes: too little data for the size of the network, no
    regularisation or augmentation, far too many epochs.
    """

    code: ClassVar[str] = "D506"

    rise_limit: float = threshold(
        1.4, "calibrated", "healthy programs end within 1.2 times their best evaluation loss"
    )
    gap_limit: float = threshold(
        4.0, "calibrated", "evaluation loss over training loss at the end; healthy up to 2.5"
    )
    least_relative: float = threshold(
        0.3,
        "calibrated",
        "an evaluation loss this far below the constant prediction's does no harm when it rises",
    )
    learned_limit: float = threshold(
        0.1, "convention", "relative training loss at which the samples are known by heart"
    )
    poor_limit: float = threshold(
        0.6, "calibrated", "relative evaluation loss of such a run; healthy programs end below 0.4"
    )
    least_passes: int = threshold(4, "convention", "a rise needs several evaluations to be one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, passes = objective(trace), evaluations(trace)
        found = self.extremes(trace)
        if course is None or passes is None or not found:
            return
        names = ("rise_limit", "gap_limit", "least_relative")
        rising = all(found[name] >= getattr(self, name) for name in names)
        if not rising and not self._by_heart(found, course):
            return
        steps, losses, _ = passes
        best = int(np.argmin(smooth(losses)))
        yield Symptom(
            self.code,
            f"The evaluation loss was best at step {int(steps[best])} ({losses[best]:.3g}) and {'rose to' if rising else 'ended at'} "
            f"{losses[-1]:.3g}, while the training loss fell to {course.last:.3g}.",
            component=course.loss,
            first_step=int(steps[best]),
            observed=found["rise_limit"],
            limit=self.rise_limit,
            detail={"best_pass": best, "passes": len(losses), "gap": found["gap_limit"]},
        )

    def _by_heart(self, found: Mapping[str, float], course: Progress) -> bool:
        """Nothing is left to learn in training, and new samples are answered hardly better than by a constant."""
        learned = course.last_relative is not None and course.last_relative < self.learned_limit
        return learned and found["least_relative"] > self.poor_limit and found["gap_limit"] >= self.gap_limit

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course, passes = objective(trace), evaluations(trace)
        if course is None or passes is None or len(passes[0]) < self.least_passes:
            return {}
        _, losses, _ = passes
        if losses.min() <= 0 or course.last <= 0:
            return {}
        late = float(np.median(losses[-3:]))
        constant = constant_of(course)
        return {
            "rise_limit": late / float(smooth(losses).min()),
            "gap_limit": late / course.last,
            "least_relative": late / constant if constant else 1.0,
            "poor_limit": late / constant
            if constant and course.last < self.learned_limit * constant
            else 0.0,
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls together", lambda: run_with(falling(200), evaluations=[0.6, 0.4, 0.2, 0.12, 0.1, 0.09])),
        Run("a mild rise", lambda: run_with(falling(200), evaluations=[0.7, 0.5, 0.42, 0.4, 0.44, 0.48])),
        Run("never evaluated", lambda: run_with(falling(200))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "known by heart, hardly of use",
            lambda: run_with(falling(200, end=0.02), evaluations=[0.95, 0.9, 0.85, 0.8, 0.8, 0.8]),
        ),
        Run(
            "evaluation rises",
            lambda: run_with(falling(200, end=0.02), evaluations=[0.8, 0.6, 0.7, 0.9, 1.1, 1.3]),
        ),
    )
