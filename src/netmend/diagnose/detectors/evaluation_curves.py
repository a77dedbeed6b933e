"""The loss in training beside that in evaluation and beside the metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.curves import LOSS, falling, flat, run_with, trace_of
from netmend.diagnose.measures.objective import constant_of, evaluations, objective, smooth
from netmend.diagnose.measures.progress import Progress
from netmend.unit import calibrated, convention
from netmend.vocabulary import Symptom, TargetFact, Trace


class Overfitting(Detector, code="D506", needs_fixed_data=True):
    """The evaluation loss rose far above its best while the training loss went on falling.

    The network learns the training samples by heart. Usual causes: too little data for the size of the network, no
    regularisation or augmentation, far too many epochs.
    """

    rise_limit = calibrated(1.4, "healthy programs end within 1.2 times their best evaluation loss")
    gap_limit = calibrated(4.0, "evaluation loss over training loss at the end; healthy up to 2.5")
    least_relative = calibrated(
        0.3, "an evaluation loss this far below the constant prediction's does no harm when it rises"
    )
    learned_limit = convention(0.1, "relative training loss at which the samples are known by heart")
    poor_limit = calibrated(0.6, "relative evaluation loss of such a run; healthy programs end below 0.4")
    least_passes = convention(4, "a rise needs several evaluations to be one")

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
        message = (
            f"The evaluation loss was best at step {int(steps[best])} ({losses[best]:.3g}) and {'rose to' if rising else 'ended at'} "
            f"{losses[-1]:.3g}, while the training loss fell to {course.last:.3g}."
        )
        yield self.symptom(
            message, course.loss, found["rise_limit"], self.rise_limit, first_step=int(steps[best])
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

    HEALTHY = {
        "falls together": lambda: run_with(falling(200), evaluations=[0.6, 0.4, 0.2, 0.12, 0.1, 0.09]),
        "a mild rise": lambda: run_with(falling(200), evaluations=[0.7, 0.5, 0.42, 0.4, 0.44, 0.48]),
        "never evaluated": lambda: run_with(falling(200)),
    }
    FAULTY = {
        "known by heart, hardly of use": lambda: run_with(
            falling(200, end=0.02), evaluations=[0.95, 0.9, 0.85, 0.8, 0.8, 0.8]
        ),
        "evaluation rises": lambda: run_with(
            falling(200, end=0.02), evaluations=[0.8, 0.6, 0.7, 0.9, 1.1, 1.3]
        ),
    }


class Overtraining(Detector, code="D507", needs_fixed_data=True, needs_end=True):
    """Evaluation was best early, and most of the run only made it worse.

    The time after the best evaluation is wasted and the final weights are worse than earlier ones. Usual causes: too many
    epochs without early stopping, no regularisation.
    """

    early_share = calibrated(0.4, "part of the passes by which healthy programs are at their best")
    rise_limit = calibrated(1.4, "the same as for overfitting")
    least_passes = convention(10, "the shape of the whole curve must be seen")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, passes = objective(trace), evaluations(trace)
        found = self.extremes(trace)
        if course is None or passes is None or not found:
            return
        if found["early_share"] > self.early_share or found["rise_limit"] < self.rise_limit:
            return
        steps, losses, _ = passes
        best = int(np.argmin(smooth(losses)))
        message = (
            f"Evaluation was best in pass {best + 1} of {len(losses)} (loss {losses[best]:.3g}); by the end of the run "
            f"it had risen to {losses[-1]:.3g}."
        )
        yield self.symptom(
            message, course.loss, found["early_share"], self.early_share, first_step=int(steps[best])
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

    HEALTHY = {
        "best at the end": lambda: run_with(falling(200), evaluations=[1 / (1 + n) for n in range(12)]),
        "flat after the best": lambda: run_with(falling(200), evaluations=[0.5, 0.4, 0.3] + [0.33] * 9),
    }
    FAULTY = {
        "rises from pass 3 on": lambda: run_with(
            falling(200, end=0.3), evaluations=[0.6, 0.4, *[0.4 + 0.05 * n for n in range(12)]]
        )
    }


class TrainingWorseThanEvaluation(Detector, code="D509", needs_fixed_data=True):
    """The loss in training is far above the loss in evaluation, at the same stage.

    What happens only in training (dropout, augmentation, noise) makes the task much harder than it is. Usual causes: a dropout
    rate that is far too high, augmentation that destroys the input, evaluation data that is easier or was trained on.
    """

    gap_limit = calibrated(2.0, "dropout of 0.5 on purpose reaches 1.6 in healthy programs")
    least_relative = calibrated(0.3, "a training loss below that does no harm")
    least_passes = convention(2, "one evaluation may be a lucky one")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course, found = objective(trace), self.extremes(trace)
        if course is None or not found:
            return
        if found["gap_limit"] < self.gap_limit or found["least_relative"] < self.least_relative:
            return
        message = f"At the end the training loss was {course.last:.3g}, {found['gap_limit']:.1f} times the evaluation loss."
        yield self.symptom(
            message, course.loss, found["gap_limit"], self.gap_limit, first_step=course.last_step
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        course, passes = objective(trace), evaluations(trace)
        if course is None or course.relative is None or passes is None or len(passes[0]) < self.least_passes:
            return {}
        late = float(np.median(passes[1][-3:]))
        if late <= 0:
            return {}
        return {"gap_limit": course.last / late, "least_relative": float(course.relative[-1])}

    HEALTHY = {
        "both low": lambda: run_with(falling(200), evaluations=[0.3, 0.2, 0.1, 0.1]),
        "dropout on purpose": lambda: run_with(falling(200, end=0.45), evaluations=[0.5, 0.4, 0.32, 0.3]),
    }
    FAULTY = {"training far above": lambda: run_with(flat(200, 0.9), evaluations=[0.6, 0.5, 0.35, 0.3])}


class LossMetricDecoupled(Detector, code="D510", needs_fixed_data=True):
    """The loss fell well below the constant prediction's, but the accuracy did not move.

    The number that training lowers is not the one that matters. Usual causes: softmax over the wrong axis, a loss that
    does not fit the task, labels and outputs in different order, a shape that broadcasts.
    """

    relative_limit = convention(0.8, "the loss must clearly have learned something")
    gain_limit = convention(0.05, "accuracy above the most frequent class, at most")
    least_looks = convention(16, "the metric of few batches is noise")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        course = objective(trace)
        if course is None or course.relative is None or course.metric_last is None:
            return
        if course.looks < self.least_looks:
            return
        task = next((task for task in trace.tasks if task.name == course.loss), None)
        target = trace.get(TargetFact, course.loss)
        if target is None or not target.class_counts or (task is not None and task.kind == "regression"):
            return
        majority = max(target.class_counts.values()) / max(1, sum(target.class_counts.values()))
        if majority > 0.8 or course.relative[-1] > self.relative_limit or course.metric_best is None:
            return
        if course.metric_best > majority + self.gain_limit:
            return
        message = (
            f"The loss fell to {course.relative[-1]:.2f} times that of the best constant prediction, but only "
            f"{course.metric_last:.0%} of the predictions are right; always predicting the most frequent class gets {majority:.0%}."
        )
        yield self.symptom(
            message, course.loss, course.metric_best, majority + self.gain_limit, first_step=course.middle
        )

    @staticmethod
    def _example(metrics: list[float]) -> Trace:
        target = TargetFact(LOSS, 100, {"0": 40, "1": 30, "2": 30})
        return trace_of(target, onto=run_with(falling(100), metrics=metrics))

    HEALTHY = {
        "both get better": lambda: LossMetricDecoupled._example([0.33 + 0.006 * step for step in range(100)])
    }
    FAULTY = {
        "accuracy stays at chance": lambda: LossMetricDecoupled._example(
            [0.3 + 0.05 * (step % 3) for step in range(100)]
        )
    }
