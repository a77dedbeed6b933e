"""M302."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import backward
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class LossNegated:
    """Negate the loss before the gradient is taken.

    Training makes the loss as large as it can.
    """

    code: ClassVar[str] = "M302"
    causes: ClassVar[tuple[str, ...]] = ("LOS-CALC",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        spot = backward(case)
        if spot is None or not spot.receiver.isidentifier() or spot.call.args or spot.call.keywords:
            return
        edits = replace(spot.file, spot.call, f"(-{spot.receiver}).backward()")
        yield from mutation(self, "the loss is maximised", edits, component=spot.receiver)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a name", STACK, old="loss.backward()", new="(-loss).backward()"),
        Example("in a function", FUNCTIONS, old="loss.backward()", new="(-loss).backward()"),
    )
