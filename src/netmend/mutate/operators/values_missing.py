"""M506."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data_edits import amounts, part_of, put
from netmend.mutate.examples import CUT_LATER, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class ValuesMissing:
    """Leave missing values in the training inputs.

    One NaN in a batch makes every weight NaN.
    """

    code: ClassVar[str] = "M506"
    causes: ClassVar[tuple[str, ...]] = ("PRE-MISS-CLEAN",)
    crashes: ClassVar[bool] = True
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = amounts(case)
        if held is not None:
            name = part_of(held)
            line = f'{name}[len({name}) // 3] = float("nan")'
            yield from mutation(self, f"missing values in {held.name}", put(held, line), component=held.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a row", STACK, old="loader = ", new='x[len(x) // 3] = float("nan")\nloader = '),
        Example("a leaf that wants gradients", CUT_LATER),
    )
