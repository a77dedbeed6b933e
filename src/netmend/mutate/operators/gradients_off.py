"""M606."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import spots
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.writing import replace
from netmend.program.text.positions import lines_of
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class GradientsOff:
    """Compute the loss under `no_grad`.

    There is nothing to take a gradient of: backward() raises.
    """

    code: ClassVar[str] = "M606"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-NO-GRAD",)
    crashes: ClassVar[bool] = True
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        backward = next(iter(spots(case, "backward")), None)
        forward = [
            each
            for each in spots(case, "forward", training=True)
            if backward is not None and each.is_beside(backward) and each.file.loop(each.call)
        ]
        for each in forward[:1]:
            file, statement = each.file, each.statement
            place = file.place(statement)
            before = lines_of(file.text).content(place.line)[: place.column]
            if before.strip() or place.line != place.end_line or isinstance(statement, ast.Return):
                continue
            name, extra = spelled(file, "torch.no_grad")
            text = f"with {name}():\n{before}    {file.source(statement)}"
            yield from mutation(
                self, "the loss is computed without gradients", (*replace(file, statement, text), *extra)
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in the loop",
            STACK,
            old="        loss = criterion(model(xb), yb)",
            new="        with torch.no_grad():\n            loss = criterion(model(xb), yb)",
        ),
        Example(
            "in a function",
            FUNCTIONS,
            old="            loss = F.mse_loss(net(x[rows]), y[rows])",
            new="            with torch.no_grad():\n                loss = F.mse_loss(net(x[rows]), y[rows])",
        ),
    )
