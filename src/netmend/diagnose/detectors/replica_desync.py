"""D223 ReplicaDesync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.replicas import with_replicas
from netmend.unit import Run, threshold
from netmend.vocabulary import EnvironmentFact, Symptom, Table, Trace


def _rank(*means: float) -> Trace:
    rows = {step: (mean, 1.0) for step, mean in enumerate(means)}
    return Trace(
        facts={"environment": {"environment": EnvironmentFact(world_size=2)}},
        tables={("weight", "model.fc.weight"): Table.of("weight", "model.fc.weight", rows)},
    )


@register
class ReplicaDesync:
    """The same parameter has different values on the processes of a distributed run.

    Every process then trains a model of its own on a part of the data, and only one of them is saved.
    Usual causes: the model is not wrapped in DistributedDataParallel, gradients are not averaged, a part is updated by hand on
    one process only.
    """

    code: ClassVar[str] = "D223"

    least_parameters: int = threshold(
        1, "exact", "replicas are equal to the last digit, or they are not replicas"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        events = [event for event in trace.events if event.kind == "replicas differ"]
        if len(events) < self.least_parameters:
            return
        first = min(events, key=lambda event: event.step)
        yield Symptom(
            self.code,
            f"{len(events)} parameters differ between the processes of the run from step {first.step} on "
            f"({first.component} first).",
            component=first.component,
            first_step=first.step,
            observed=float(len(events)),
            limit=0.0,
            site=first.site,
            detail={"parameters": [event.component for event in events]},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("equal on both", lambda: with_replicas(_rank(0.1, 0.2, 0.3), (_rank(0.1, 0.2, 0.3),))),
        Run("one process", lambda: _rank(0.1, 0.2, 0.3)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("they drift apart", lambda: with_replicas(_rank(0.1, 0.2, 0.3), (_rank(0.1, 0.21, 0.33),))),
    )
