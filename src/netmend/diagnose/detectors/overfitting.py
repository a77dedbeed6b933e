"""D506 Overfitting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import constant_of, evaluations, objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
@dataclass(frozen=True)
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
        "an evaluation loss this far below the constant predictor's does no harm when it rises",
    )
    least_passes: int = threshold(4, "convention", "a rise needs several evaluations to be one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, passes = objective(trace), evaluations(trace)
        found = self.extremes(trace)
        if course is None or passes is None or not found:
            return
        if any(found[name] < getattr(self, name) for name in ("rise_limit", "gap_limit", "least_relative")):
            return
        steps, losses, _ = passes
        best = int(np.argmin(losses))
        yield Symptom(
            self.code,
            f"The evaluation loss was best at step {int(steps[best])} ({losses[best]:.3g}) and rose to "
            f"{losses[-1]:.3g}, while the training loss fell to {course.last:.3g}.",
            component=course.loss,
            first_step=int(steps[best]),
            observed=found["rise_limit"],
            limit=self.rise_limit,
            detail={"best_pass": best, "passes": len(losses), "gap": found["gap_limit"]},
        )

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
            "rise_limit": late / float(losses.min()),
            "gap_limit": late / course.last,
            "least_relative": late / constant if constant else 1.0,
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("falls together", run_with(falling(200), evaluations=[0.6, 0.4, 0.2, 0.12, 0.1, 0.09])),
        Run("a mild rise", run_with(falling(200), evaluations=[0.7, 0.5, 0.42, 0.4, 0.44, 0.48])),
        Run("never evaluated", run_with(falling(200))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("evaluation rises", run_with(falling(200, end=0.02), evaluations=[0.8, 0.6, 0.7, 0.9, 1.1, 1.3])),
    )
