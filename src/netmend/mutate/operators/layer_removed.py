"""M417."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.layer_removal import layer_removed
from netmend.changes.network.model_layers import layers_of, made_by
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class LayerRemoved:
    """Remove a hidden layer whose output is as wide as its input.

    The network may be too small for what it has to learn.
    """

    code: ClassVar[str] = "M417"
    causes: ClassVar[tuple[str, ...]] = ("ARC-STRUCT-SUBOPT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("LR",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        # Without the first one, the inputs themselves would go through its activation.
        for layer in layers_of(case, "" if model is None else model.name)[1:-1]:
            alone = len(made_by(case, layer.created)) == 1 and layer.calls == 1
            if alone and layer.input_shapes[:1] == layer.output_shapes[:1]:
                edits = layer_removed(case, layer)
                yield from mutation(self, f"without {layer.name}", edits, component=layer.name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("of a stack", STACK, old="    nn.Linear(8, 8),\n", new=""),
        Example("only the first one and the last", PROBABILITIES),
    )
