"""M207."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import exchanged, hidden
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example

_OTHERS = ("relu", "elu", "selu", "hardsigmoid")


@register
@dataclass(frozen=True)
class HiddenActivationVaried:
    """Replace the hidden activations, or one, with another common one.

    Most of them do nearly as well: a mild fault, if it is one, that only a good test set notices.
    """

    code: ClassVar[str] = "M207"
    causes: ClassVar[tuple[str, ...]] = ("ACT-HID-WRONG",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("ACH",)

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        for index, new in enumerate(_OTHERS, 1):
            wrong = [link for link in links if link.function != new]
            edits = [exchanged(case, link, new) for link in wrong]
            grade = index / len(_OTHERS)
            for link, own in zip(wrong, edits, strict=True):
                title = f"{link.name}: {link.function} → {new}"
                yield from mutation(
                    self, title, own, grade=grade / 2, component=link.name, parameter=f"{new} once"
                )
            if len(edits) > 1 and all(edits):
                title = f"all hidden activations → {new}"
                yield from mutation(self, title, united(edits), grade=grade, parameter=new)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer", STACK, old="nn.Tanh()", new="nn.ReLU()"),
        Example(
            "a function",
            FUNCTIONS,
            old="F.relu(self.conv(x.unsqueeze(1)))",
            new="F.elu(self.conv(x.unsqueeze(1)))",
            nth=3,
        ),
    )
