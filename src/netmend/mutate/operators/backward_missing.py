"""M603."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import spots
from netmend.mutate.examples import STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.moving import taken_out
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class BackwardMissing:
    """Leave out the call that computes the gradients.

    The optimiser has nothing to follow.
    """

    code: ClassVar[str] = "M603"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-BACKWARD",)
    crashes: ClassVar[bool] = True
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        places = spots(case, "backward")
        if len(places) == 1 and places[0].is_alone:
            edits = taken_out(places[0].file, places[0].statement)
            yield from mutation(self, "backward() is missing", edits, component=places[0].receiver)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("left out", STACK, old="        loss.backward()\n", new=""),
    )
