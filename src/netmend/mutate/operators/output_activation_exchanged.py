"""M205."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.activations import applied_at, exchanged
from netmend.changes.network.heads_in_source import head_of
from netmend.mutate.examples import PROBABILITIES
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_OTHERS = {"sigmoid": ("softmax", "relu", "tanh"), "softmax": ("sigmoid",), "tanh": ("relu", "sigmoid")}


@register
@dataclass(frozen=True)
class OutputActivationExchanged:
    """Replace the output activation with another.

    A softmax over a single output is always 1, a rectifier or tanh gives no probabilities.
    """

    code: ClassVar[str] = "M205"
    causes: ClassVar[tuple[str, ...]] = ("ACT-OUT-WRONG",)
    crashes: ClassVar[bool] = True
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("ACH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        head = head_of(case)
        applied = applied_at(case, head, head.last) if head is not None and head.last in _OTHERS else None
        if head is None or applied is None:
            return
        for new in _OTHERS[head.last]:
            title = f"{head.last} → {new} at the output"
            yield from mutation(self, title, exchanged(case, applied, new), parameter=new)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a rectifier", PROBABILITIES, old="nn.Sigmoid()", new="nn.ReLU()", nth=1),
    )
