"""D102 UpdateRatioLow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.motion import Motion, motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.diagnose.measures.words import plural
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class UpdateRatioLow:
    """The steps are so small that the weights hardly leave their start over the whole run, and the loss hardly falls.

    Usual causes: a learning rate that is too low, clipping that is too tight, an optimiser that takes tiny steps by construction,
    gradients that vanish, weights that start far too large. Fine-tuning a good model with small steps is no fault: its loss is low.
    """

    code: ClassVar[str] = "D102"

    ratio_limit: float = threshold(
        6e-4,
        "calibrated",
        "median update over weight; healthy programs that are not done move at least 1.8e-3 a step",
    )
    travelled_limit: float = threshold(
        0.15,
        "calibrated",
        "that times the number of steps; healthy programs that are not done travel 0.8 and more",
    )
    unknown_limit: float = threshold(
        0.003,
        "convention",
        "for objectives whose value says nothing about progress, only if nothing moved at all",
    )
    unscaled_limit: float = threshold(
        0.03, "convention", "where the loss has no constant prediction to be compared with"
    )
    least_relative: float = threshold(
        0.75, "convention", "below that of the constant prediction something was learned"
    )
    most_fall: float = threshold(0.35, "convention", "share of the first loss that is gone: more is learning")
    highest_limit: float = threshold(
        5e-3,
        "convention",
        "steps that were large once and are small now are a run that broke down or a schedule",
    )
    least_steps: int = threshold(30, "convention", "a run may be meant to be that short")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for motion, ratio in self._judged(trace):
            travelled = motion.travelled or 0.0
            if ratio > self.ratio_limit or travelled > self._limit(trace):
                continue
            yield Symptom(
                self.code,
                f"Each step changed the weights by only {ratio:.1g} of their size (median of {plural(motion.tensors, 'tensor')}): "
                f"in {motion.steps} steps they could move by {travelled:.1g} at most.",
                component=motion.optimizer,
                first_step=motion.last_look,
                observed=ratio,
                limit=self.ratio_limit,
                detail={"travelled": travelled},
            )

    def _limit(self, trace: Trace) -> float:
        """The distance that must be stayed below, by how well the loss tells whether anything was learned."""
        course = objective(trace)
        if course is None or len(motions(trace)) > 1:
            return self.unknown_limit
        return self.travelled_limit if course.relative is not None else self.unscaled_limit

    def _judged(self, trace: Trace) -> Iterator[tuple[Motion, float]]:
        """Optimisers that never made large steps in a run that learned little, with their usual relative update."""
        course = objective(trace)
        if course is not None and (
            course.fell > self.most_fall or (course.last_relative or 1.0) < self.least_relative
        ):
            return
        for motion in motions(trace):
            ratio = motion.usual if motion.usual is not None else motion.early
            # Exactly nothing is another matter: frozen, dead, or a rate of zero.
            if ratio and motion.steps >= self.least_steps and (motion.highest or 0.0) < self.highest_limit:
                yield motion, ratio

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = list(self._judged(trace))
        if not judged:
            return {}
        return {
            "ratio_limit": min(ratio for _, ratio in judged),
            "travelled_limit": min(motion.travelled or 0.0 for motion, _ in judged),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("ordinary steps", lambda: net_run()),
        Run("small steps, but the loss is low", lambda: net_run(losses=falling(200), ratio=1e-4)),
        Run("a flat loss in spite of ordinary steps", lambda: net_run(losses=flat(200), ratio=2e-3)),
        Run(
            "broke down after large steps",
            lambda: net_run(losses=flat(200), ratio=lambda step: 0.5 if step < 9 else 1e-6),
        ),
        Run("too short to judge", lambda: net_run(losses=flat(20), ratio=1e-5)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("hardly moves", lambda: net_run(losses=[1.1 - 1e-4 * step for step in range(300)], ratio=1e-5)),
    )
