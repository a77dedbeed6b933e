"""M423."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import made_by
from netmend.mutate.examples import STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model, weighted
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class LayerBiasRemoved:
    """Remove the bias of one layer.

    All that it computes goes through the origin; the layers behind it may make up for that.
    """

    code: ClassVar[str] = "M423"
    causes: ClassVar[tuple[str, ...]] = ("LYR-BIAS-MISSING",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("WRB",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        biased = {p.module for p in case.trace.parameters if p.name.endswith(".bias")}
        for layer in [] if model is None else weighted(case, model):
            if layer.name in biased and len(made_by(case, layer.created)) == 1:
                edits = set_argument(case.code, layer.created, "bias", "False", None, case.arguments)
                yield from mutation(self, f"{layer.name} without its bias", edits, component=layer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("the first one", STACK, old="nn.Linear(4, 8)", new="nn.Linear(4, 8, bias=False)"),
    )
