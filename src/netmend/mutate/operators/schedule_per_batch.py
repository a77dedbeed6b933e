"""M611."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import loops_around, spots
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import moved_after
from netmend.repair.repair import Case, Example
from netmend.vocabulary import SchedulerFact

_FALLING = ("StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR")


@register
@dataclass(frozen=True)
class SchedulePerBatch:
    """Step a schedule that counts epochs with every batch.

    The learning rate is gone after the first epochs.
    """

    code: ClassVar[str] = "M611"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-SCHED-ORDER",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        schedulers = [each for each in case.trace.all(SchedulerFact) if each.kind in _FALLING]
        turns, steps = spots(case, "scheduler"), spots(case, "step")
        if len(schedulers) != 1 or len(turns) != 1 or len(steps) != 1:
            return
        turn, step = turns[0], steps[0]
        deeper = len(loops_around(step.file, step.call)) - len(loops_around(turn.file, turn.call))
        if turn.is_alone and step.is_alone and turn.is_beside(step) and deeper == 1:
            edits = moved_after(turn.file, turn.statement, step.statement)
            yield from mutation(
                self, "the schedule is stepped with every batch", edits, component=schedulers[0].name
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "counting epochs",
            STACK,
            old="        optimizer.step()\n    scheduler.step()\n",
            new="        optimizer.step()\n        scheduler.step()\n",
        ),
        Example("no schedule", PROBABILITIES),
    )
