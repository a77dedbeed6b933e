"""M414."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.layer_removal import layer_removed
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import LOG_PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact


@register
@dataclass(frozen=True)
class NormalisationRemoved:
    """Remove the normalisation layers.

    Deep stacks lose the scale of their signals, and the learning rate that was chosen with them is too high.
    """

    code: ClassVar[str] = "M414"
    causes: ClassVar[tuple[str, ...]] = ("LYR-NORM-MISSING",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        norms = [m for m in case.trace.all(ModuleFact) if "Norm" in m.kind and m.order is not None]
        edits = [layer_removed(case, norm) for norm in norms]
        if edits and all(edits) and all(is_written(case, norm) for norm in norms):
            yield from mutation(self, "no normalisation layers", united(edits), component=norms[0].name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("in a stack", STACK, old="    nn.BatchNorm1d(8),\n", new=""),
        Example("in forward", LOG_PROBABILITIES, old="self.norm(self.hidden(x))", new="self.hidden(x)"),
    )
