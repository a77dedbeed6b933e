"""D606 BatchOverfitFails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class BatchOverfitFails:
    """A copy of the model could not memorise a single batch, with the program's own optimiser and settings.

    Only said with --probe. What cannot be memorised cannot be learned: data and generalisation are not the trouble, but the model,
    its loss, its gradients or the learning rate.
    Usual causes: output activation that does not fit the loss, cut graph, dead units, learning rate far off, labels that do not
    fit the outputs.
    """

    code: ClassVar[str] = "D606"

    level_limit: float = threshold(
        0.9, "convention", "of the constant prediction's loss: next to nothing was learned"
    )
    fall_limit: float = threshold(
        0.2,
        "convention",
        "share of the first loss that must be gone; slow optimisers get this far in 200 steps",
    )
    least_steps: int = threshold(100, "convention", "a probe that ran out of time says nothing")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("batch overfit"):
            values = probe.values
            level, first, best = values.get("s"), float(values["first"]), float(values["best"])
            fell = 1 - best / first if first > 0 else 1.0
            if level is None or not level > self.level_limit or fell > self.fall_limit:
                continue
            if int(values["steps"]) < self.least_steps:
                continue
            yield Symptom(
                self.code,
                f"Trained on one batch for {values['steps']} steps, a copy of {probe.component} still has {level:.0%} of the "
                "best constant prediction's loss.",
                component=probe.component,
                first_step=probe.step,
                observed=float(level),
                limit=self.level_limit,
                site=probe.site,
                detail=dict(values),
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "by heart", lambda: probed("batch overfit", {"first": 2.3, "best": 0.02, "steps": 40, "s": 0.01})
        ),
        Run("slow", lambda: probed("batch overfit", {"first": 2.3, "best": 1.9, "steps": 200, "s": 0.85})),
        Run("no time", lambda: probed("batch overfit", {"first": 2.3, "best": 2.3, "steps": 4, "s": 1.0})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "not even one batch",
            lambda: probed("batch overfit", {"first": 2.35, "best": 2.29, "steps": 200, "s": 1.0}),
        ),
    )
