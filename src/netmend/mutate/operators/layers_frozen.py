"""M608."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import made, reached, trained_model, weighted
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits


@register
@dataclass(frozen=True)
class LayersFrozen:
    """Freeze layers that were never trained.

    They keep the random values they started with; only what comes behind them learns.
    """

    code: ClassVar[str] = "M608"
    causes: ClassVar[tuple[str, ...]] = ("LOOP-FREEZE",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place, layers = made(case, model), [] if model is None else weighted(case, model)
        if model is None or place is None or len(layers) < 2:
            return
        first, most = layers[:1], layers[:-1]
        for index, frozen in enumerate([first, most] if len(most) > 1 else [first], 1):
            names = [reached(case, place, model, layer.name) for layer in frozen]
            if not all(names):
                return
            target = names[0] if len(names) == 1 else ""
            text = (
                f"for parameter in {target}.parameters():\n    parameter.requires_grad = False"
                if target
                else f"for layer in ({', '.join(names)}):\n    layer.requires_grad_(False)"
            )
            edits: FileEdits = place.put(text)
            title = f"{', '.join(layer.name for layer in frozen[:3])} frozen"
            yield from mutation(self, title, edits, grade=index / 2, component=frozen[0].name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "the first layer",
            LOG_PROBABILITIES,
            old="optimizer = ",
            new="for parameter in model.hidden.parameters():\n    parameter.requires_grad = False\noptimizer = ",
        ),
    )
