"""M303."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import criterion_of
from netmend.changes.network.heads_in_source import head_of
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import objective
from netmend.program.source.bindings import bindings_in
from netmend.program.source.values import set_argument
from netmend.program.source.writing import replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example
from netmend.vocabulary import LossFact, Site


@register
@dataclass(frozen=True)
class LossSummed:
    """Sum the loss over the batch where it was averaged.

    Gradients grow with the size of the batch, so the learning rate is far too high.
    """

    code: ClassVar[str] = "M303"
    causes: ClassVar[tuple[str, ...]] = ("LOS-CALC",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        loss = case.loss if head is None else head.loss
        if loss is None:
            return
        grade = min(1.0, math.log10(max(10, math.prod(head.given.shape) if head else 10)) / 4)
        if loss.form == "expression":
            yield from self._expression(case, grade)
        elif loss.settings.get("reduction", "mean") == "mean" and criterion_of(case, loss) is not None:
            site = _site(loss)
            edits = set_argument(case.code, site, "reduction", '"sum"', None, case.arguments)
            yield from mutation(
                self, "the loss is summed over the batch", edits, grade=grade, component=loss.name
            )

    def _expression(self, case: Case, grade: float) -> Iterator[Mutation]:
        """`loss = ((out - y) ** 2).mean()`"""
        found = objective(case)
        if found is None:
            return
        spot, name = found
        made = bindings_in(spot.file.function(spot.call) or spot.file.tree, name)
        value = made[0].value if len(made) == 1 and not made[0].path else None
        is_method = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        if isinstance(value, ast.Call) and is_method and last_name(value.func) == "mean":
            text = spot.file.source(value)
            if text.endswith(".mean()"):
                edits = replace(spot.file, value, f"{text.removesuffix('.mean()')}.sum()")
                yield from mutation(
                    self, "the loss is summed over the batch", edits, grade=grade, component=name
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a criterion", STACK, old="CrossEntropyLoss()", new='CrossEntropyLoss(reduction="sum")'),
        Example(
            "a function",
            FUNCTIONS,
            old="F.mse_loss(net(x[rows]), y[rows])",
            new='F.mse_loss(net(x[rows]), y[rows], reduction="sum")',
        ),
    )


def _site(loss: LossFact) -> Site | None:
    return loss.created if loss.form == "module" else loss.called
