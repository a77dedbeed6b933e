"""M607."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.optimizer_arguments import given_parameters
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import made, reached, trained_model, weighted
from netmend.program.source.writing import replace
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class ParametersLeftOut:
    """Give the optimiser only the last layer, or all but the first ones.

    The layers that are left out keep the random values they started with.
    """

    code: ClassVar[str] = "M607"
    causes: ClassVar[tuple[str, ...]] = ("OPT-PARAMS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        optimizer, model = case.optimizer, trained_model(case)
        found = None if optimizer is None else given_parameters(case.code, optimizer.created)
        place = made(case, model)
        if optimizer is None or found is None or model is None or place is None:
            return
        file, value = found
        whole = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args
        layers = weighted(case, model)
        if (
            not whole
            or not isinstance(value, ast.Call)
            or last_name(value.func) != "parameters"
            or len(layers) < 2
        ):
            return
        if file.source(value.func)[: -len(".parameters")] != place.name or file is not place.file:
            return
        last = reached(case, place, model, layers[-1].name)
        half = len([p for p in case.trace.parameters if p.optimizer == optimizer.name]) // 2
        text = f"list({file.source(value)})[{half}:]"
        yield from mutation(
            self,
            "the first half of the parameters is not trained",
            replace(file, value, text),
            grade=0.5,
            component=optimizer.name,
        )
        if last:
            title = f"only {layers[-1].name} is trained"
            edits = replace(file, value, f"{last}.parameters()")
            yield from mutation(self, title, edits, component=optimizer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "the last layer of a stack",
            STACK,
            old="SGD(model.parameters()",
            new="SGD(model[6].parameters()",
            nth=1,
        ),
        Example(
            "half of them", FUNCTIONS, old="Adam(net.parameters()", new="Adam(list(net.parameters())[4:]"
        ),
    )
