"""M304."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import arguments
from netmend.changes.network.heads_in_source import head_of
from netmend.library.losses import DISTANCES
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.writing import wrap
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class ShapesBroadcast:
    """Give a regression loss a column beside a row, so that every prediction is compared with every target.

    The shapes broadcast without a word and the network learns the mean of the targets.
    """

    code: ClassVar[str] = "M304"
    causes: ClassVar[tuple[str, ...]] = ("TSR-SQUEEZE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        found = None if head is None else case.code.call_at(head.loss.called)
        given = None if found is None else arguments(found[1])
        if head is None or head.target is None or found is None or given is None:
            return
        one, other = head.given.shape, head.target.shape
        if head.loss.criterion not in DISTANCES or one != other or not one or one[0] < 2:
            return
        if len(one) == 1:
            text = ".unsqueeze(1)"
        elif len(one) == 2 and one[1] == 1:
            text = ".squeeze(1)"
        else:
            return
        edits = wrap(found[0], given[1], "", text)
        yield from mutation(self, "targets of another shape", edits, component=head.loss.name, parameter=text)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "targets as a column",
            FUNCTIONS,
            old="net(x[rows]), y[rows])",
            new="net(x[rows]), y[rows].unsqueeze(1))",
        ),
        Example("classes", STACK),
    )
