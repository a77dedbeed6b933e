"""M421."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import every_layer, made, reached, trained_model, weighted
from netmend.program.source.naming import spelled
from netmend.repair.repair import Case, Example

# Published name → what is written, and how far from what PyTorch does by itself.
_STARTS = {
    "xavier uniform": ("xavier_uniform_", "", 0.1),
    "xavier normal": ("xavier_normal_", "", 0.1),
    "kaiming uniform": ("kaiming_uniform_", "", 0.2),
    "kaiming normal": ("kaiming_normal_", "", 0.2),
    "orthogonal": ("orthogonal_", "", 0.3),
    "small uniform": ("uniform_", ", -0.05, 0.05", 0.6),
    "small normal": ("normal_", ", std=0.05", 0.6),
    "cut normal": ("trunc_normal_", ", std=0.05", 0.6),
}


@register
@dataclass(frozen=True)
class WeightsStartOtherwise:
    """Initialise the weights of one layer, or all, from another common distribution.

    Most do as well: a mild fault, if it is one, that only a good test set notices.
    """

    code: ClassVar[str] = "M421"
    causes: ClassVar[tuple[str, ...]] = ("ARC-INIT-WEIGHT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("WCI",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        place, layers = made(case, model), [] if model is None else weighted(case, model)
        if model is None or place is None or not layers:
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
                    grade=grade / 2,
                    component=layer.name,
                    parameter=f"{title} once",
                )
            if len(layers) > 1:
                edits = every_layer(place, [layer.kind for layer in layers], f"{name}(module.weight{more})")
                yield from mutation(
                    self, f"all weights start as {title}", (*edits, *extra), grade=grade, parameter=title
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "one layer",
            STACK,
            old="optimizer = ",
            new="nn.init.xavier_uniform_(model[0].weight)\noptimizer = ",
        ),
    )
