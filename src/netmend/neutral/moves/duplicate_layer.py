"""N110."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from netmend.changes.network.model_layers import in_stack, links_of, made_by
from netmend.changes.network.stacks import put_behind
from netmend.changes.network.widths import width_of_layer
from netmend.neutral.move import moved, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import ARCHITECTURE, Change, FileEdits

_TAIL = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class DuplicateLayer:
    """One of the layers of a stack twice.

    A linear layer comes with the activation behind it and takes its own width; layers that leave the shape as it is are
    copied as they are.
    """

    code: ClassVar[str] = "N110"
    causes: ClassVar[tuple[str, ...]] = ("ARC-STRUCT-SUBOPT",)
    effort: ClassVar[int] = ARCHITECTURE

    def propose(self, case: Case) -> Iterator[Change]:
        links = [link for link in links_of(case) if link.module is not None]
        for link, behind in pairwise(links):
            module, after = link.module, behind.module
            if module is None or after is None or not self._is_own(case, module):
                continue
            if link.kind == "linear" and behind.kind == "activation" and self._is_own(case, after):
                edits = self._linear(case, module, after)
            elif link.kind == "transparent" and module.input_shapes == module.output_shapes:
                edits = self._copied(case, module)
            else:
                continue
            knob = f"copy of {module.name}"
            yield from moved(self, "ARC-STRUCT-SUBOPT", f"{module.name} twice", edits, knob=knob, cost=1.2)

    @staticmethod
    def _is_own(case: Case, module: ModuleFact) -> bool:
        return in_stack(case, module) and module.calls == 1 and len(made_by(case, module.created)) == 1

    @staticmethod
    def _linear(case: Case, module: ModuleFact, activation: ModuleFact) -> FileEdits:
        made, after = case.code.call_at(module.created), case.code.call_at(activation.created)
        if made is None or after is None or module.kind != "Linear" or made[0].file != after[0].file:
            return ()
        size = case.sources.argument(made[1], "out_features", 1)
        width = str(width_of_layer(module)) if size is None else made[0].source(size)
        copy = f"{made[0].source(made[1].func)}({width}, {width})"
        return put_behind(after[0], after[1], f"{copy}, {after[0].source(after[1])}", "again")

    @staticmethod
    def _copied(case: Case, module: ModuleFact) -> FileEdits:
        found = case.code.call_at(module.created)
        return () if found is None else put_behind(*found, found[0].source(found[1]), "again")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a layer with its activation",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
{_TAIL}""",
            old="nn.Tanh(), ",
            new="nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), ",
        ),
        Example(
            "dropout",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(
    nn.Linear(2, 8),
    nn.Dropout(0.1),
    nn.Linear(8, 1),
)
{_TAIL}""",
            old="    nn.Dropout(0.1),\n",
            new="    nn.Dropout(0.1),\n    nn.Dropout(0.1),\n",
        ),
        Example(
            "a single layer",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 1))
{_TAIL}""",
        ),
    )
