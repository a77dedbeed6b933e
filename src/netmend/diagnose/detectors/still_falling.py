"""D505 StillFalling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.progress import Progress, progress
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class StillFalling:
    """The loss was still falling steeply, and far from low, when training ended.

    The program stopped in the middle of learning: what it reports is not what it can reach. Usual causes: too few
    epochs, a batch so large that there are hardly any updates, a learning rate that is too low.
    """

    code: ClassVar[str] = "D505"

    fall_limit: float = threshold(
        0.22,
        "calibrated",
        "share of the remaining loss lost over the last third of the run; see docs/calibration.md",
    )
    least_relative: float = threshold(0.35, "calibrated", "below that much has been learned already")
    least_looks: int = threshold(6, "convention", "a trend needs some points")
    late: float = threshold(
        0.4, "convention", "share of the run after which what is compared with its end must lie"
    )
    few_looks: int = threshold(12, "convention", "below that block means hide the trend: single losses count")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        found = self.extremes(trace)
        if course is None or not found:
            return
        if found["fall_limit"] < self.fall_limit or found["least_relative"] < self.least_relative:
            return
        yield Symptom(
            self.code,
            f"The loss fell by {found['fall_limit']:.0%} over the last third of the run and was still "
            f"{found['least_relative']:.2f} times that of the best constant prediction when training ended.",
            component=course.loss,
            first_step=course.last_step,
            observed=found["fall_limit"],
            limit=self.fall_limit,
            detail={"relative": found["least_relative"]},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course = objective(trace)
        if len(progress(trace)) > 1:
            return {}  # several objectives: what is left of one may be what the others leave to it
        if course is None or course.relative is None or course.looks < self.least_looks:
            return {}
        if course.looks < self.few_looks:
            return self._of_few(trace, course)
        # On a busy machine most looks are early ones: what they show is not the last third of the run.
        early = np.searchsorted(course.steps, self.late * course.last_step)
        start = max(2 * len(course.losses) // 3 - 1, int(early))
        if start >= len(course.losses) - 1:
            return {}
        first, last = float(course.losses[start]), float(course.losses[-1])
        noise = float(np.hypot(course.errors[start], course.errors[-1]))
        fall = (first - last) / first if first - last > 3 * noise and first > 0 else 0.0
        return {"fall_limit": fall, "least_relative": float(course.relative[-1])}

    @staticmethod
    def _of_few(trace: Trace, course: Progress) -> Mapping[str, float]:
        """The same from single losses, of which a line through the last two thirds tells trend and noise."""
        seen = trace.table("progress", course.loss).known("loss")[1]
        values = seen if len(seen) >= course.looks else trace.loss[1][np.isfinite(trace.loss[1])]
        late = values[len(values) // 3 :]
        if len(late) < 4:
            return {}
        places = np.arange(len(late), dtype=np.float64)
        slope, offset = np.polyfit(places, late, 1)
        noise = float(np.std(late - slope * places - offset))
        end = float(offset + slope * places[-1])
        fall = -float(slope) * (len(late) - 1) / 2  # over half of these: the last third of the run
        share = fall / (end + fall) if fall > 3 * noise and end + fall > 0 else 0.0
        relative = float(course.last_relative or 0.0) * end / course.last if course.last > 0 else 0.0
        return {"fall_limit": share, "least_relative": relative}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("converged", lambda: run_with(falling(200))),
        Run("falls, but is low already", lambda: run_with([1.0 * 0.99**step for step in range(300)])),
        Run("never moved", lambda: run_with(flat(100))),
        Run(
            "looked at mostly in its first steps",
            lambda: run_with([0.99**step for step in range(100)], seen=(*range(17), 50, 70, 85)),
        ),
        Run("a few noisy losses", lambda: run_with([1.1, 0.7, 1.2, 0.6, 0.9, 1.0, 0.6, 0.8])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("stopped half way", lambda: run_with([1.1 * 0.988**step for step in range(80)])),
        Run("eight updates", lambda: run_with([1.1 - 0.08 * step for step in range(8)])),
    )
