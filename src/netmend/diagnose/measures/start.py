"""The first steps of a run: does the loss jump up after a good start?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.objective import constant_of, objective
from netmend.vocabulary import Trace

_FIRST_STEPS = 40
_FIRST_SHARE = 0.05


@dataclass(frozen=True)
class Start:
    """Values of the loss; `constant` is the loss of the best constant prediction, None where there is none."""

    first: float  # before any step
    peak: float  # highest in the first steps after it
    peak_step: int
    constant: float | None

    @property
    def overshoot(self) -> float:
        """How far the loss shot up: its peak over where it started, or over the constant prediction if that is higher."""
        return self.peak / max(self.first, self.constant or 0.0)

    @property
    def first_relative(self) -> float | None:
        """Loss before any step, on the scale of the constant prediction."""
        return None if not self.constant else self.first / self.constant


@lru_cache(maxsize=16)
def start(trace: Trace) -> Start | None:
    """None where the loss cannot be judged (adversarial, negative) or its first value was not seen."""
    course = objective(trace)
    steps, losses = trace.loss
    finite = np.isfinite(losses)
    steps, losses = steps[finite], losses[finite]
    if course is None or len(losses) < 4 or steps[0] != 0 or losses.min() < 0 or losses[0] <= 0:
        return None
    until = max(_FIRST_STEPS, _FIRST_SHARE * max(int(steps[-1]), trace.run.steps))
    early = losses[1:][steps[1:] <= until]
    if not len(early):
        return None
    highest = int(np.argmax(early))
    return Start(
        float(losses[0]), float(early[highest]), int(steps[1:][highest]), _fitting(trace, constant_of(course))
    )


def _fitting(trace: Trace, constant: float | None) -> float | None:
    """The constant's loss, if what is minimised is the criterion itself and not a sum in which it is one term."""
    course = objective(trace)
    if constant is None or course is None:
        return None
    by_step = dict(zip(*(values.tolist() for values in trace.loss), strict=True))
    steps, values = trace.series("progress", course.loss, "loss")
    pairs = [(by_step[s], v) for s, v in zip(steps.tolist(), values.tolist(), strict=True) if s in by_step]
    if not pairs:
        return None
    same = np.mean([abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-12) for a, b in pairs])
    return constant if same > 0.8 else None
