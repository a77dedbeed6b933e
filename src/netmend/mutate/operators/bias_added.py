"""M422."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import STACK, VALIDATED
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model, weighted
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class BiasAdded:
    """Give a layer without a bias one.

    A norm layer behind it takes the bias away again; without one, what had to go through the origin no longer does.
    """

    code: ClassVar[str] = "M422"
    causes: ClassVar[tuple[str, ...]] = ("LYR-BIAS-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("WAB",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        biased = {p.module for p in case.trace.parameters if p.name.endswith(".bias")}
        for layer in [] if model is None else weighted(case, model):
            if layer.name not in biased:
                edits = set_argument(case.code, layer.created, "bias", "True", None, case.arguments)
                yield from mutation(self, f"{layer.name} with a bias", edits, component=layer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("before a norm layer", VALIDATED, old="bias=False", new="bias=True"),
        Example("all have one", STACK),
    )
