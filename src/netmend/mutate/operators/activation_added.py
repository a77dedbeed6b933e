"""M208."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import behind
from netmend.diagnose.measures.chain import chain
from netmend.mutate.examples import PROBABILITIES, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.mutate.places import is_written, trained_model
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact

_FUNCTIONS = {"relu": 0.3, "tanh": 0.4, "softplus": 0.5, "sigmoid": 0.8, "softmax": 1.0}


@register
@dataclass(frozen=True)
class ActivationAdded:
    """Add an activation after a hidden layer that had none.

    What the next layer or norm needs, such as the sign of a number, is lost before it gets there.
    """

    code: ClassVar[str] = "M208"
    causes: ClassVar[tuple[str, ...]] = ("ACT-EXTRA",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("AAL",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        for layer in _linear(case):
            for function, grade in _FUNCTIONS.items():
                yield from mutation(
                    self,
                    f"{function} after {layer.name}",
                    behind(case, layer, function),
                    grade=grade,
                    component=layer.name,
                    parameter=function,
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "before a norm layer",
            STACK,
            old="nn.Linear(4, 8),",
            new="nn.Linear(4, 8),\n    nn.ReLU(),",
        ),
        Example("every layer has one", PROBABILITIES),
    )


def _linear(case: Case) -> list[ModuleFact]:
    """Layers with weights behind which no activation comes at once; the last one is the output's matter."""
    model = trained_model(case)
    links = [link for link in chain(case.trace) if model is not None and link.model == model.name]
    weighted = [index for index, link in enumerate(links) if link.kind == "linear"]
    return [
        layer
        for index in weighted[:-1]
        if (layer := links[index].module) is not None
        and links[index + 1].kind != "activation"
        and layer.calls == 1
        and is_written(case, layer)
    ]
