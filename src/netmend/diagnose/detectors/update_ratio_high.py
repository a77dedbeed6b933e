"""D101 UpdateRatioHigh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.motion import WHOLE_SEARCHES, Motion, motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.words import plural
from netmend.unit import Run, threshold
from netmend.vocabulary import OptimizerFact, Symptom, Trace


@register
class UpdateRatioHigh:
    """Each step changes the weights by a large part of their own size.

    What was learned before, and the scale that the initialisation chose with care, is lost within a few steps. Usual causes: a learning
    rate that is too high, gradients that are not cleared, unscaled inputs or targets, weights that start very small.
    """

    code: ClassVar[str] = "D101"

    usual_limit: float = threshold(
        0.15,
        "calibrated",
        "median update over weight after the first tenth; healthy programs stay below 0.1 (at the peak of a one-cycle schedule)",
    )
    early_limit: float = threshold(
        0.5,
        "calibrated",
        "the same in the first steps; healthy programs stay below 0.3 (logistic regression)",
    )
    least_looks: int = threshold(4, "convention", "fewer measured steps may be a burst")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in motions(trace):
            usual, early = motion.usual or 0.0, motion.early or 0.0
            if not self._judged(trace, motion) or (usual < self.usual_limit and early < self.early_limit):
                continue
            seen, limit = (
                (usual, self.usual_limit) if usual >= self.usual_limit else (early, self.early_limit)
            )
            when = "" if usual >= self.usual_limit else " in the first steps"
            yield Symptom(
                self.code,
                f"Each step{when} changed the weights by {_share(seen)} their size (median of {plural(motion.tensors, 'tensor')}); "
                "about 0.1 to 3 % is usual.",
                component=motion.optimizer,
                first_step=1,
                observed=seen,
                limit=limit,
            )

    def _judged(self, trace: Trace, motion: Motion) -> bool:
        optimizer = trace.get(OptimizerFact, motion.optimizer)
        return motion.looks >= self.least_looks and (
            optimizer is None or optimizer.kind not in WHOLE_SEARCHES
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = [motion for motion in motions(trace) if self._judged(trace, motion)]
        if not judged:
            return {}
        return {
            "usual_limit": max(motion.usual or 0.0 for motion in judged),
            "early_limit": max(motion.early or 0.0 for motion in judged),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("small steps", lambda: net_run()),
        Run(
            "large but short-lived steps at the start",
            lambda: net_run(ratio=lambda step: 0.2 if step < 10 else 0.01),
        ),
        Run("a line search", lambda: net_run(optimizer="LBFGS", ratio=0.5)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a third of the weights at every step", lambda: net_run(ratio=0.3)),
        Run("the start is wiped out", lambda: net_run(ratio=lambda step: 0.8 if step < 12 else 0.02)),
    )


def _share(ratio: float) -> str:
    return f"{ratio:.0%} of" if ratio < 2 else f"{ratio:.3g} times"
