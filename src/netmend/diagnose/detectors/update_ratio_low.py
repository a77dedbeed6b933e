"""D102 UpdateRatioLow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.motion import Motion, motions
from netmend.diagnose.measures.net_examples import net_run
from netmend.diagnose.measures.objective import objective
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
@dataclass(frozen=True)
class UpdateRatioLow:
    """The steps are so small that the weights hardly leave their start over the whole run, and the loss hardly falls.

    Usual causes: a learning rate that is too low, clipping that is too tight, an optimiser that takes tiny steps by construction,
    gradients that vanish, weights that start far too large. Fine-tuning a good model with small steps is no fault: its loss is low.
    """

    code: ClassVar[str] = "D102"

    ratio_limit: float = threshold(
        6e-4,
        "calibrated",
        "median update over weight; healthy programs that are not done move at least 1e-3 a step",
    )
    travelled_limit: float = threshold(
        0.15,
        "calibrated",
        "that times the number of steps; healthy programs travel at least 0.5 times their size",
    )
    unknown_limit: float = threshold(
        0.003,
        "convention",
        "for objectives whose value says nothing about progress, only if nothing moved at all",
    )
    least_relative: float = threshold(
        0.75, "convention", "below that of the constant answer something was learned"
    )
    most_fall: float = threshold(0.35, "convention", "share of the first loss that is gone: more is learning")
    highest_limit: float = threshold(
        5e-3,
        "convention",
        "steps that were large once and are small now are a run that broke down or a schedule",
    )
    least_steps: int = threshold(30, "convention", "a run may be meant to be that short")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        limit = self.travelled_limit if objective(trace) is not None else self.unknown_limit
        for motion in self._judged(trace):
            usual, travelled = motion.usual or 0.0, motion.travelled or 0.0
            if usual > self.ratio_limit or travelled > limit:
                continue
            yield Symptom(
                self.code,
                f"Each step changed the weights by only {usual:.1g} of their size (median of {motion.tensors} tensors): "
                f"in {motion.steps} steps they could move by {travelled:.1g} at most.",
                component=motion.optimizer,
                first_step=motion.last_look,
                observed=usual,
                limit=self.ratio_limit,
                detail={"travelled": travelled},
            )

    def _judged(self, trace: Trace) -> Iterator[Motion]:
        course = objective(trace)
        if course is not None and (
            course.fell > self.most_fall or (course.last_relative or 1.0) < self.least_relative
        ):
            return
        for motion in motions(trace):
            # Exactly nothing is another matter: frozen, dead, or a rate of zero.
            if motion.usual is None or motion.steps < self.least_steps or motion.usual <= 0:
                continue
            if (motion.highest or 0.0) < self.highest_limit:
                yield motion

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        judged = list(self._judged(trace))
        if not judged:
            return {}
        return {
            "ratio_limit": min(motion.usual or 0.0 for motion in judged),
            "travelled_limit": min(motion.travelled or 0.0 for motion in judged),
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("ordinary steps", net_run()),
        Run("small steps, but the loss is low", net_run(losses=falling(200), ratio=1e-4)),
        Run("a flat loss in spite of ordinary steps", net_run(losses=flat(200), ratio=2e-3)),
        Run(
            "broke down after large steps",
            net_run(losses=flat(200), ratio=lambda step: 0.5 if step < 9 else 1e-6),
        ),
        Run("too short to judge", net_run(losses=flat(20), ratio=1e-5)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("hardly moves", net_run(losses=[1.1 - 1e-4 * step for step in range(300)], ratio=1e-5)),
    )
