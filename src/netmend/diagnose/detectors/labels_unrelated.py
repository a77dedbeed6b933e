"""D311 LabelsUnrelated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, run_with
from netmend.diagnose.measures.objective import constant_of, evaluations, objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, TargetFact, Trace


@register
class LabelsUnrelated:
    """The training loss falls, but no evaluation was ever better than a constant prediction.

    The network remembers its training samples, and what it remembers says nothing about new ones: inputs and labels do
    not belong together, or evaluation data is something else. Usual causes: labels shuffled or shifted apart from their inputs, different
    preprocessing in evaluation.
    """

    code: ClassVar[str] = "D311"

    evaluation_limit: float = threshold(
        0.97,
        "calibrated",
        "lowest evaluation loss over that of the best constant prediction; healthy programs end below 0.9",
    )
    training_limit: float = threshold(
        0.95,
        "convention",
        "the training loss must have fallen below a constant's: the same bound as for learning nothing",
    )
    chance_limit: float = threshold(
        0.1, "convention", "accuracy in evaluation above that of the most frequent class"
    )
    least_passes: int = threshold(3, "convention", "evaluations that must agree")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, found = objective(trace), self.extremes(trace)
        if course is None or course.relative is None or not found:
            return
        if found["evaluation_limit"] < self.evaluation_limit or course.relative[-1] > self.training_limit:
            return
        metrics = (
            passes[2][np.isfinite(passes[2])] if (passes := evaluations(trace)) is not None else np.empty(0)
        )
        if len(metrics) and float(metrics.max()) > self.chance_limit + _majority(trace, course.loss):
            return  # sure of itself where it is wrong, but right more often than chance
        yield Symptom(
            self.code,
            f"The training loss fell to {course.relative[-1]:.2f} times that of the best constant prediction, but in evaluation it "
            f"was never below {found['evaluation_limit']:.2f} times it.",
            component=course.loss,
            first_step=int(course.steps[len(course.steps) // 2]),
            observed=found["evaluation_limit"],
            limit=self.evaluation_limit,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course, passes = objective(trace), evaluations(trace)
        constant = None if course is None else constant_of(course)
        if course is None or passes is None or not constant or len(passes[1]) < self.least_passes:
            return {}
        return {"evaluation_limit": float(np.min(passes[1])) / constant}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("evaluation falls too", lambda: run_with(falling(200), evaluations=[0.9, 0.6, 0.4, 0.3])),
        Run(
            "overfits, but had learned something",
            lambda: run_with(falling(200), evaluations=[0.9, 0.8, 1.1, 1.5]),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "evaluation never better than a guess",
            lambda: run_with(falling(200), evaluations=[1.02, 1.1, 1.3, 1.6]),
        ),
    )


def _majority(trace: Trace, loss: str) -> float:
    """Share of the most frequent class; what a metric other than accuracy is compared with is out of its reach."""
    target = trace.get(TargetFact, loss)
    counts = target.class_counts.values() if target is not None else ()
    return max(counts) / sum(counts) if counts else 1.0
