"""M202."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.function_edits import hidden, removed
from netmend.changes.network.model_layers import united
from netmend.mutate.examples import FUNCTIONS, STACK
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.repair.repair import Case, Example


@register
@dataclass(frozen=True)
class HiddenActivationRemoved:
    """Remove the nonlinearity between two layers, or all of them.

    Linear layers in a row are one linear layer: the network can only draw straight lines.
    """

    code: ClassVar[str] = "M202"
    causes: ClassVar[tuple[str, ...]] = ("ACT-HID-MISSING",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ("ARM", "AFR")

    def propose(self, case: Case) -> Iterator[Mutation]:
        links = hidden(case)
        edits = [removed(case, link) for link in links]
        for link, own in zip(links, edits, strict=True):
            grade = 1.0 if len(links) == 1 else 0.4
            title = f"{link.name}: no {link.function}"
            yield from mutation(self, title, own, grade=grade, component=link.name, parameter=link.function)
        if len(edits) > 1 and all(edits):
            yield from mutation(self, "no hidden activation at all", united(edits))

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a layer of a stack", STACK, old="    nn.ReLU(),\n", new=""),
        Example("a function", FUNCTIONS, old="torch.tanh(self.fc1(h))", new="self.fc1(h)", nth=1),
        Example("a method", FUNCTIONS, old="self.fc2(h).sigmoid()", new="self.fc2(h)", nth=2),
    )
