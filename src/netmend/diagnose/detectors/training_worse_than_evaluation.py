"""D509 TrainingWorseThanEvaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat, run_with
from netmend.diagnose.measures.objective import evaluations, objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class TrainingWorseThanEvaluation:
    """The loss in training is far above the loss in evaluation, at the same stage.

    What happens only in training (dropout, augmentation, noise) makes the task much harder than it is. Usual causes: a dropout
    rate that is far too high, augmentation that destroys the input, evaluation data that is easier or was trained on.
    """

    code: ClassVar[str] = "D509"

    gap_limit: float = threshold(
        2.0, "calibrated", "dropout of 0.5 on purpose reaches 1.6 in healthy programs"
    )
    least_relative: float = threshold(0.3, "calibrated", "a training loss below that does no harm")
    least_passes: int = threshold(2, "convention", "one evaluation may be a lucky one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, found = objective(trace), self.extremes(trace)
        if course is None or not found:
            return
        if found["gap_limit"] < self.gap_limit or found["least_relative"] < self.least_relative:
            return
        yield Symptom(
            self.code,
            f"At the end the training loss was {course.last:.3g}, {found['gap_limit']:.1f} times the evaluation loss.",
            component=course.loss,
            first_step=course.last_step,
            observed=found["gap_limit"],
            limit=self.gap_limit,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course, passes = objective(trace), evaluations(trace)
        if course is None or course.relative is None or passes is None or len(passes[0]) < self.least_passes:
            return {}
        late = float(np.median(passes[1][-3:]))
        if late <= 0:
            return {}
        return {"gap_limit": course.last / late, "least_relative": float(course.relative[-1])}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("both low", lambda: run_with(falling(200), evaluations=[0.3, 0.2, 0.1, 0.1])),
        Run(
            "dropout on purpose", lambda: run_with(falling(200, end=0.45), evaluations=[0.5, 0.4, 0.32, 0.3])
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("training far above", lambda: run_with(flat(200, 0.9), evaluations=[0.6, 0.5, 0.35, 0.3])),
    )
