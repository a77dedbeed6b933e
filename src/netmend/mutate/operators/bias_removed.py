"""M418."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import united
from netmend.mutate.examples import PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model, weighted
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class BiasRemoved:
    """Remove the biases of all layers.

    All that they compute goes through the origin.
    """

    code: ClassVar[str] = "M418"
    causes: ClassVar[tuple[str, ...]] = ("LYR-BIAS-MISSING",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("WRB",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        biased = {p.module for p in case.trace.parameters if p.name.endswith(".bias")}
        layers = [m for m in ([] if model is None else weighted(case, model)) if m.name in biased]
        faces = [set_argument(case.code, m.created, "bias", "False", None, case.arguments) for m in layers]
        if faces and all(faces):
            yield from mutation(
                self, "no biases", united(face.edits for face in faces), component=layers[0].name
            )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "all layers",
            PROBABILITIES,
            old="nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)",
            new="nn.Linear(3, 8, bias=False), nn.ReLU(), nn.Linear(8, 1, bias=False)",
        ),
    )
