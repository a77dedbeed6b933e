"""M401."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import Made, every_layer, made, reached, trained_model, weighted
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import FileEdits

# What is written, and how strong a fault it is.
_STARTS = {
    "std 1": ("normal_", ", std=1.0", 0.3),
    "tiny": ("normal_", ", std=0.001", 0.5),
    "ones": ("ones_", "", 0.7),
    "constant": ("constant_", ", 0.5", 0.8),
    "zeros": ("zeros_", "", 0.9),
    "huge": ("normal_", ", std=5.0", 1.0),
}


@register
@dataclass(frozen=True)
class WeightsStartBadly:
    """Initialise the weights of one layer, or all, with zeros, ones, a constant, or a wrong scale.

    Equal weights make all units of a layer the same for ever; tiny ones let the signal vanish, huge ones saturate or
    explode.
    """

    code: ClassVar[str] = "M401"
    causes: ClassVar[tuple[str, ...]] = ("ARC-INIT-WEIGHT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("WCI",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place, layers = made(case, model), [] if model is None else weighted(case, model)
        if model is None or place is None:
            return
        for title, (function, more, grade) in _STARTS.items():
            name, extra = spelled(place.file, f"torch.nn.init.{function}")
            for layer in layers:
                target = reached(case, place, model, layer.name)
                edits = place.put(f"{name}({target}.weight{more})") if target else ()
                yield from mutation(
                    self,
                    f"weights of {layer.name} start as {title}",
                    (*edits, *extra) if edits else (),
                    grade=grade * (1.0 if len(layers) == 1 else 0.6),
                    component=layer.name,
                    parameter=title,
                )
            if len(layers) > 1:
                edits = _all(place, name, more, [layer.kind for layer in layers])
                yield from mutation(
                    self, f"all weights start as {title}", (*edits, *extra), grade=grade, parameter=title
                )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """How many times as large all weights start as they did: from 1 down to 0.0001 and up to 1,000."""
        model = trained_model(case)
        place, layers = made(case, model), [] if model is None else weighted(case, model)
        if place is None or not layers:
            return
        kinds = [layer.kind for layer in layers]
        for title, extreme in (("weights start smaller", 1e-4), ("weights start larger", 1e3)):
            yield from knob(
                self,
                title,
                Scale(1.0, extreme, 1.5, logarithmic=True),
                lambda factor: every_layer(place, kinds, f"module.weight.data *= {factor:.3g}"),
                told="all weights start {} times as large",
            )

    def others(self, case: Case) -> Iterator[Mutation]:
        """Starts without an order."""
        return (each for each in self.propose(case) if each.parameter in ("ones", "constant", "zeros"))

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a layer of a stack",
            STACK,
            old="optimizer = ",
            new="nn.init.normal_(model[0].weight, std=1.0)\noptimizer = ",
        ),
        Example(
            "all layers, within a function",
            FUNCTIONS,
            old="    optimizer = ",
            new="    for module in net.modules():\n        if isinstance(module, (nn.Conv1d, nn.Linear)):\n"
            "            nn.init.normal_(module.weight, std=1.0)\n    optimizer = ",
            nth=4,
        ),
    )


def _all(place: Made, name: str, more: str, kinds: list[str]) -> FileEdits:
    """The same for every layer of the model."""
    return every_layer(place, kinds, f"{name}(module.weight{more})")
