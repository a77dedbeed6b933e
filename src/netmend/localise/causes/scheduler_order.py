"""LOOP-SCHED-ORDER."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.loop_calls import SchedulerOrder as SchedulerOrderDetector
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault


@register
class SchedulerOrder:
    """The learning-rate scheduler is stepped before the optimiser.

    The first value of the schedule is skipped, and all others come too early. On its own it seldom hurts.
    Call scheduler.step() after optimizer.step().
    """

    code: ClassVar[str] = "LOOP-SCHED-ORDER"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D209"):
            evidence = [for_symptom(symptom, STRONG)]
            if any(event.kind == "state loaded" for event in case.trace.events):
                evidence.append(
                    Evidence("A checkpoint was loaded: the schedule may be fast-forwarded.", -STRONG)
                )
            yield fault(
                self.code,
                evidence,
                component=symptom.component or "scheduler",
                site=symptom.site,
                summary=symptom.message,
                reason="The initial rate, meant for the first step or epoch, is never used.",
                remedy="Call `scheduler.step()` after the optimiser has stepped.",
                refutation="The schedule is advanced on purpose, to resume an earlier run.",
            )

    FAULTY: ClassVar[tuple[Run, ...]] = SchedulerOrderDetector.FAULTY
