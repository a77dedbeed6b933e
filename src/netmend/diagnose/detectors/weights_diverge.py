"""D107 WeightsDiverge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.motion import FIRST_STEPS, WHOLE_SEARCHES, Motion, motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.words import plural
from netmend.unit import Run, threshold
from netmend.vocabulary import OptimizerFact, Symptom, Trace


@register
class WeightsDiverge:
    """The weights grew to many times their initial size, at once or without end.

    Outputs and gradients grow with them, so that units saturate or die and values overflow. Usual causes: a learning rate that is too
    high, gradients that are not cleared, a loss without a lower bound, unscaled inputs or targets.
    """

    code: ClassVar[str] = "D107"

    early_limit: float = threshold(
        4.0, "calibrated", "growth within the first steps; healthy networks stay below 2.4"
    )
    growth_limit: float = threshold(
        40.0,
        "calibrated",
        "growth over the run; healthy networks stay below 22 (sigmoid units that learn steps)",
    )
    least_tensors: int = threshold(
        2, "convention", "a single linear layer takes the scale it needs, whatever it started from"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion in self._judged(trace):
            early, growth = motion.early_growth or 1.0, motion.growth or 1.0
            if early < self.early_limit and growth < self.growth_limit:
                continue
            at_once = early >= self.early_limit
            seen = early if at_once else growth
            when = f"within about {FIRST_STEPS} steps" if at_once else "over the run"
            size = f"to {seen:.3g} times their initial size" if math.isfinite(seen) else "to infinity"
            yield Symptom(
                self.code,
                f"The weights grew {size} {when} (median of {plural(motion.tensors, 'tensor')}).",
                component=motion.optimizer,
                first_step=1 if at_once else motion.last_look,
                observed=seen,
                limit=self.early_limit if at_once else self.growth_limit,
                detail={"early": early, "whole": growth},
            )

    def _judged(self, trace: Trace) -> Iterator[Motion]:
        for motion in motions(trace):
            optimizer = trace.get(OptimizerFact, motion.optimizer)
            searches = optimizer is not None and optimizer.kind in WHOLE_SEARCHES
            if not searches and motion.tensors >= self.least_tensors:
                yield motion

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = list(self._judged(trace))
        if not judged:
            return {}
        return {
            "early_limit": max(motion.early_growth or 1.0 for motion in judged),
            "growth_limit": max(motion.growth or 1.0 for motion in judged),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("grows a little", lambda: net_run(growth=3.0)),
        Run("grows slowly from a small start", lambda: net_run(gain=0.1, growth=8.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("at once", lambda: net_run(growth=lambda step: min(1 + step, 12.0))),
        Run("without end", lambda: net_run(growth=100.0)),
    )
