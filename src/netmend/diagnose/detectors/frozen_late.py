"""D230 FrozenLate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.probe_examples import probed
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


def _late(steps: int, count: int = 800, **more: object) -> Trace:
    values = {
        "class": "Backbone",
        "count": count,
        "total": 2000,
        "steps": steps,
        "names": ["model.stem.weight"],
    }
    return probed("frozen late", {**values, **more})


@register
class FrozenLate:
    """Parts that the model's own train() freezes were trained, because train() had not been called before.

    A new module is in training mode already, so nobody needs to call train(), and what a class does in its own train() has not happened
    when training begins: stages that should stay as they were loaded are changed.
    Usual causes: freezing only inside an overridden train().
    """

    code: ClassVar[str] = "D230"

    least_steps: int = threshold(
        1, "exact", "optimiser steps between the first training pass and the freezing"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for probe in trace.probes("frozen late"):
            steps, count = int(probe.values["steps"]), int(probe.values["count"])
            if steps < self.least_steps or not count:
                continue
            yield Symptom(
                self.code,
                f"{count:,} parameters of {probe.component} were trained for {steps} steps before {probe.values['class']}.train() "
                "froze them.",
                component=probe.component,
                first_step=probe.step,
                observed=float(steps),
                limit=float(self.least_steps),
                site=probe.site,
                detail={"class": probe.values["class"], "names": list(probe.values["names"])},
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("frozen before the first step", lambda: _late(0)),
        Run("train() freezes nothing here", lambda: _late(50, count=0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("frozen at the first evaluation", lambda: _late(40)),)
