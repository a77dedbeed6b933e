"""D210 RateDies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.loop_examples import optimizer, trained
from netmend.diagnose.measures.progress import main_progress
from netmend.unit import Run, threshold
from netmend.vocabulary import SchedulerFact, Site, Symptom, Table, Trace

_SCHEDULER = SchedulerFact(
    "StepLR", "StepLR", "optimizer", {"gamma": 0.1}, Site("train.py", 9), Site("train.py", 14)
)


def _rates(every: int, factor: float, least: float = 0.0) -> Table:
    """A rate that is multiplied every so many of 64 steps."""
    return Table.of(
        "rate", "optimizer[0]", {s: (max(0.1 * factor ** (s // every), least),) for s in range(0, 64, every)}
    )


@register
@dataclass(frozen=True)
class RateDies:
    """The schedule takes the learning rate to next to nothing in the first half of the run.

    From then on the weights hardly move: the rest of the run is spent for nothing, and what was learned until then is all.
    Usual causes: scheduler.step() after every batch where the schedule counts epochs, gamma far too small, warm-up or cosine
    length given in epochs instead of steps.
    """

    code: ClassVar[str] = "D210"

    dead: float = threshold(
        1e-3,
        "convention",
        "a thousandth of the highest rate: a thousand such steps weigh as much as one before",
    )
    by_share: float = threshold(
        0.5,
        "convention",
        "schedules that end low reach a thousandth in the last tenth (cosine: the last 2 %)",
    )
    least_steps: int = threshold(20, "convention", "shorter runs have no schedule to speak of")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        steps = trace.run.steps
        if steps < self.least_steps:
            return
        for table in trace.tables_of("rate"):
            when, rates = table.known("rate")
            peak = float(rates.max(initial=0.0))
            low = rates < self.dead * peak
            if peak <= 0 or not len(rates) or not low[-1]:
                continue
            alive = np.flatnonzero(~low)
            died = int(when[alive[-1] + 1]) if len(alive) else int(when[0])
            if died > self.by_share * steps:
                continue
            name = table.component.partition("[")[0]
            schedulers = [s for s in trace.all(SchedulerFact) if s.optimizer == name]
            scheduler = schedulers[0] if schedulers else None
            course = main_progress(trace)
            yield Symptom(
                self.code,
                f"The learning rate of {name} fell below a thousandth of its peak ({peak:.3g}) at step {died} of {steps}.",
                component=scheduler.name if scheduler is not None else table.component,
                first_step=died,
                observed=died / steps,
                limit=self.by_share,
                site=scheduler.stepped if scheduler is not None else None,
                detail={
                    "peak": peak,
                    "last": float(rates[-1]),
                    "relative": None if course is None else course.last_relative,
                    "scheduler": "" if scheduler is None else scheduler.name,
                },
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("constant", trained(optimizer(), Table.of("rate", "optimizer[0]", {0: (0.1,)}))),
        Run("low at the end only", trained(optimizer(), _SCHEDULER, _rates(12, 0.1))),
        Run("never quite dead", trained(optimizer(), _SCHEDULER, _rates(4, 0.1, 2e-4))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("stepped far too often", trained(optimizer(), _SCHEDULER, _rates(4, 0.1))),
    )
