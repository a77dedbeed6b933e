"""M601."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import loops_around, spots
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import moved_before, taken_out
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class ZeroGradRemoved:
    """Never clear the gradients, or only once before the loop.

    Every step follows the sum of all gradients so far.
    """

    code: ClassVar[str] = "M601"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-ZERO-GRAD",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        places = [each for each in spots(case, "zero_grad") if each.is_alone]
        if len(places) != 1 or len(spots(case, "zero_grad")) != 1:
            return
        place = places[0]
        loops = loops_around(place.file, place.call)
        if loops:
            edits = moved_before(place.file, place.statement, loops[0])
            yield from mutation(
                self,
                "gradients are cleared outside the loop over batches",
                edits,
                grade=0.6,
                component=place.receiver,
            )
        yield from mutation(
            self,
            "gradients are never cleared",
            taken_out(place.file, place.statement),
            component=place.receiver,
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("never", STACK, old="        optimizer.zero_grad()\n", new="", nth=1),
        Example(
            "once per epoch",
            FUNCTIONS,
            old=FUNCTIONS[
                FUNCTIONS.index("        for i in") : FUNCTIONS.index("            loss.backward()")
            ],
            new="        optimizer.zero_grad()\n"
            + FUNCTIONS[
                FUNCTIONS.index("        for i in") : FUNCTIONS.index("            optimizer.zero_grad()")
            ],
        ),
    )
