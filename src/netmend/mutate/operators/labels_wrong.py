"""M501."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.data_edits import part_of, put, random_rows, targets
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.data.data_holders import fresh
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class LabelsWrong:
    """Exchange a part of the training labels among each other, or all of them.

    What is learned from wrong labels is wrong; with all of them exchanged, inputs and labels have nothing to do with each
    other.
    """

    code: ClassVar[str] = "M501"
    causes: ClassVar[tuple[str, ...]] = ("DAT-LABEL",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False

    shares: tuple[float, ...] = (0.3, 0.6, 1.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        held = targets(case)
        if held is None:
            return
        uniform, order, extra = random_rows(held)
        name, mixed = part_of(held), fresh(held.file, "mixed", "exchanged")
        for share in self.shares:
            lines = [f"{name}[:] = {name}[{order}(len({name}))]"]
            if share < 1:
                lines = [
                    f"{mixed} = {uniform}(len({name})) < {share:g}",
                    f"{name}[{mixed}] = {name}[{mixed}][{order}(int({mixed}.sum()))]",
                ]
            yield from mutation(
                self,
                f"{share:.0%} of the labels in {held.name} exchanged",
                (*put(held, *lines), *extra),
                grade=share,
                component=held.name,
                parameter=f"{share:g}",
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a part",
            STACK,
            old="loader = ",
            new="mixed = torch.rand(len(y)) < 0.3\n"
            "y[mixed] = y[mixed][torch.randperm(int(mixed.sum()))]\nloader = ",
        ),
        Example(
            "all of them",
            FUNCTIONS,
            old="    train(net, ",
            new="    y[:] = y[torch.randperm(len(y))]\n    train(net, ",
            nth=2,
        ),
    )
