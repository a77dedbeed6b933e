"""M402."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import made, reached, trained_model, weighted
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class BiasesStartBadly:
    """Start the biases of a layer far from zero.

    Rectified units start dead, squashed ones saturated; an output starts far from the targets.
    """

    code: ClassVar[str] = "M402"
    causes: ClassVar[tuple[str, ...]] = ("ARC-INIT-BIAS",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    values: tuple[float, ...] = (-5.0, 10.0, -10.0, 100.0)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place = made(case, model)
        if model is None or place is None:
            return
        biased = {p.module for p in case.trace.parameters if p.name.endswith(".bias")}
        name, extra = spelled(place.file, "torch.nn.init.constant_")
        for layer in weighted(case, model):
            target = reached(case, place, model, layer.name)
            if layer.name not in biased or not target:
                continue
            for index, value in enumerate(self.values, 1):
                edits = place.put(f"{name}({target}.bias, {value:g})")
                yield from mutation(
                    self,
                    f"biases of {layer.name} start at {value:g}",
                    (*edits, *extra),
                    grade=index / len(self.values),
                    component=layer.name,
                    parameter=f"{value:g}",
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a hidden layer",
            LOG_PROBABILITIES,
            old="optimizer = ",
            new="nn.init.constant_(model.hidden.bias, -5)\noptimizer = ",
        ),
    )
