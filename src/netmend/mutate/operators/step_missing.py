"""M602."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import block_of, spots
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import moved_before, taken_out
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class StepMissing:
    """Leave out the optimiser's step, or make it after the gradients are cleared and before new ones are computed.

    The weights never move.
    """

    code: ClassVar[str] = "M602"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-STEP",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        steps = spots(case, "step")
        if len(steps) != 1 or not steps[0].is_alone:
            return
        step = steps[0]
        edits = taken_out(step.file, step.statement)
        yield from mutation(self, "the optimiser's step is missing", edits, component=step.receiver)
        takes = [each for each in spots(case, "backward") if each.is_beside(step)]
        clears = [each for each in spots(case, "zero_grad") if each.is_beside(step)]
        if len(takes) != 1 or len(clears) != 1:
            return
        block = block_of(step.file, step.statement)
        order = [clears[0].statement, takes[0].statement, step.statement]
        if all(each in block for each in order) and sorted(order, key=block.index) == order:
            moved = moved_before(step.file, step.statement, takes[0].statement)
            yield from mutation(self, "the step comes before the gradient", moved, component=step.receiver)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("left out", STACK, old="        optimizer.step()\n", new=""),
        Example(
            "too early",
            STACK,
            old="        loss.backward()\n        optimizer.step()\n",
            new="        optimizer.step()\n        loss.backward()\n",
            nth=1,
        ),
        Example("in a function", FUNCTIONS, old="            optimizer.step()\n", new=""),
    )
