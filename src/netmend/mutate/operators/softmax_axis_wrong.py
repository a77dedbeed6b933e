"""M206."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import LOG_PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.numbers import literal
from netmend.program.source.writing import replace
from netmend.repair.repair import Case, Example
from netmend.vocabulary import FunctionFact, ModuleFact, Site

_FUNCTIONS = ("softmax", "log_softmax")


@register
@dataclass(frozen=True)
class SoftmaxAxisWrong:
    """Apply a softmax over the samples of the batch instead of the classes.

    Samples then compete with each other, and what is predicted for one depends on the others.
    """

    code: ClassVar[str] = "M206"
    causes: ClassVar[tuple[str, ...]] = ("ACT-DIM",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        sites: dict[Site, str] = {}
        for function in case.trace.all(FunctionFact):
            if (
                function.function in _FUNCTIONS
                and function.site is not None
                and len(function.output_shape) == 2
            ):
                sites.setdefault(function.site, function.name)
        for module in case.trace.all(ModuleFact):
            if (
                module.activation in _FUNCTIONS
                and module.created is not None
                and len((*module.output_shapes, ())[0]) == 2
            ):
                sites.setdefault(module.created, module.name)
        for site, name in sites.items():
            found = case.code.call_at(site)
            axis = None if found is None else _axis(found[1])
            if found is not None and axis is not None and literal(axis) in (1, -1):
                edits = replace(found[0], axis, "0")
                yield from mutation(self, f"{name} over the batch", edits, component=name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("log_softmax", LOG_PROBABILITIES, old="dim=1", new="dim=0"),
        Example("there is none", STACK),
    )


def _axis(call: ast.Call) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "dim"), None)
    return named or (call.args[-1] if call.args else None)
