"""M112."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import model_at
from netmend.mutate.examples import LOG_PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import Made, objective, reached, trained_model, weighted
from netmend.program.source.writing import insert_before
from netmend.repair.repair import Case, Example

_KINDS = {
    "L1": "{0}.weight.abs().sum()",
    "L2": "{0}.weight.pow(2).sum()",
    "L1 and L2": "({0}.weight.abs() + {0}.weight.pow(2)).sum()",
}


@register
@dataclass(frozen=True)
class LayerPenaltyAdded:
    """Add a penalty on the weights of one layer to the loss.

    The layer is held back where the others follow the data.
    """

    code: ClassVar[str] = "M112"
    causes: ClassVar[tuple[str, ...]] = ("LOS-REG-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("RAW",)

    strength: float = 0.01  # what Keras takes, and with it DeepCrime

    def propose(self, case: Case) -> Iterator[Mutation]:
        found, model = objective(case), trained_model(case)
        name = "" if found is None or model is None else model_at(case, model.name, found[0])
        if found is None or model is None or not name:
            return
        spot, loss = found
        place = Made(spot.file, spot.statement, name, True)
        for index, (kind, penalty) in enumerate(_KINDS.items(), 1):
            for layer in weighted(case, model):
                target = reached(case, place, model, layer.name)
                line = f"{loss} = {loss} + {self.strength:g} * {penalty.format(target)}"
                yield from mutation(
                    self,
                    f"{kind} penalty on {layer.name}",
                    insert_before(spot.file, spot.statement, line) if target else (),
                    grade=index / len(_KINDS),
                    component=layer.name,
                    parameter=kind,
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "of squares",
            LOG_PROBABILITIES,
            old="        loss.backward()",
            new="        loss = loss + 0.01 * model.hidden.weight.pow(2).sum()\n        loss.backward()",
            nth=2,
        ),
    )
