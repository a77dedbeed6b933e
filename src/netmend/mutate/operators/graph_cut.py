"""M609."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import trained_model, weighted
from netmend.program.source.writing import wrap
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModelFact, ModuleFact


@register
@dataclass(frozen=True)
class GraphCut:
    """Detach the output of a hidden layer from the graph.

    No gradient reaches the layers before the cut.
    """

    code: ClassVar[str] = "M609"
    causes: ClassVar[tuple[str, ...]] = ("LOS-GRAPH-CUT",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    def propose(self, case: Case) -> Iterator[Mutation]:
        model = trained_model(case)
        layers = [] if model is None else self._parts(case, model)
        for index, layer in enumerate(layers, 1):
            found = case.code.call_at(layer.called)
            if found is None or layer.calls != 1 or last_name(found[1].func) != layer.name.rpartition(".")[2]:
                continue
            edits = wrap(found[0], found[1], "", ".detach()")
            yield from mutation(
                self, f"{layer.name} detached", edits, grade=index / len(layers), component=layer.name
            )

    @staticmethod
    def _parts(case: Case, model: ModelFact) -> list[ModuleFact]:
        """Layers with weights, and stacks of them, that are followed by another layer with weights."""
        own = weighted(case, model)
        last = own[-1].name if own else ""
        stacks = [
            module
            for module in case.trace.all(ModuleFact)
            if module.model == model.name and module.kind == "Sequential" and module.calls == 1
        ]
        holding = [m for m in stacks if any(layer.name.startswith(f"{m.name}.") for layer in own)]
        return [m for m in (*own[:-1], *holding) if not last.startswith(f"{m.name}.")]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("in forward", FUNCTIONS, old="self.fc1(h)", new="self.fc1(h).detach()", nth=1),
        Example("a stack", STACK),
    )
