"""D507 Overtraining."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import evaluations, objective, smooth
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class Overtraining:
    """Evaluation was best early, and most of the run only made it worse.

    The time after the best evaluation is wasted and the final weights are worse than earlier ones. Usual causes: too many
    epochs without early stopping, no regularisation.
    """

    code: ClassVar[str] = "D507"

    early_share: float = threshold(
        0.4, "calibrated", "part of the passes by which healthy programs are at their best"
    )
    rise_limit: float = threshold(1.4, "calibrated", "the same as for overfitting")
    least_passes: int = threshold(10, "convention", "the shape of the whole curve must be seen")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, passes = objective(trace), evaluations(trace)
        found = self.extremes(trace)
        if course is None or passes is None or not found:
            return
        if found["early_share"] > self.early_share or found["rise_limit"] < self.rise_limit:
            return
        steps, losses, _ = passes
        best = int(np.argmin(smooth(losses)))
        yield Symptom(
            self.code,
            f"Evaluation was best in pass {best + 1} of {len(losses)} (loss {losses[best]:.3g}); by the end of the run "
            f"it had risen to {losses[-1]:.3g}.",
            component=course.loss,
            first_step=int(steps[best]),
            observed=found["early_share"],
            limit=self.early_share,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        passes = evaluations(trace)
        if passes is None or len(passes[0]) < self.least_passes or passes[1].min() <= 0:
            return {}
        _, losses, _ = passes
        late = float(np.median(losses[-3:]))
        return {
            "early_share": float(np.argmin(smooth(losses)) + 1) / len(losses),
            "rise_limit": late / float(smooth(losses).min()),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("best at the end", lambda: run_with(falling(200), evaluations=[1 / (1 + n) for n in range(12)])),
        Run("flat after the best", lambda: run_with(falling(200), evaluations=[0.5, 0.4, 0.3] + [0.33] * 9)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "rises from pass 3 on",
            lambda: run_with(
                falling(200, end=0.3), evaluations=[0.6, 0.4, *[0.4 + 0.05 * n for n in range(12)]]
            ),
        ),
    )
