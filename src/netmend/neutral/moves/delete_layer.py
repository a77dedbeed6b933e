"""N109."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.layer_removal import layer_removed
from netmend.changes.network.model_layers import in_stack, layers_of, made_by
from netmend.changes.network.widths import takers
from netmend.neutral.move import moved, register
from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example
from netmend.vocabulary import ModuleFact
from netmend.vocabulary.change import BY_FACTS, Change, FileEdits

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
class DeleteLayer:
    """The network without one of its layers.

    Activations, dropout and others that leave the shape as it is; a hidden linear layer of a stack too, whose input then goes
    to the layer behind it.
    """

    code: ClassVar[str] = "N109"
    causes: ClassVar[tuple[str, ...]] = ("LYR-EXTRA",)
    effort: ClassVar[int] = BY_FACTS

    def propose(self, case: Case) -> Iterator[Change]:
        model = "" if case.model is None else case.model.name
        for module in case.trace.layers():
            usable = module.leaf and module.registered and module.calls == 1 and module.model == model
            if not usable or len(made_by(case, module.created)) != 1:
                continue
            if module.input_shapes == module.output_shapes:
                edits = layer_removed(case, module)
            else:
                edits = self._hidden_removed(case, module)
            yield from moved(self, "LYR-EXTRA", f"without {module.name}", edits, knob=module.name)

    def _hidden_removed(self, case: Case, module: ModuleFact) -> FileEdits:
        """`Linear(2, 8), ReLU(), Linear(8, 1)` → `ReLU(), Linear(2, 1)`."""
        if module.kind != "Linear" or module not in layers_of(case)[:-1] or not in_stack(case, module):
            return ()
        found, behind = case.code.call_at(module.created), takers(case, module)
        size = None if found is None else case.sources.argument(found[1], "in_features", 0)
        if found is None or size is None or not behind or any(times != 1 for *_, times in behind):
            return ()
        if not isinstance(size, ast.Constant | ast.Name):
            return ()
        text = found[0].source(size)
        edits = layer_removed(case, module)
        given = [
            set_argument(case.code, taker.created, setting, text, position, case.arguments)
            for taker, setting, position, _ in behind
        ]
        if not edits or not all(given):
            return ()
        # At the layers themselves: a constant that says the width may be used elsewhere too.
        return (*edits, *(edit for faces in given for edit in faces.forced or faces.edits))

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a hidden layer",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1))
{_TAIL}""",
            old="nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1)",
            new="nn.Tanh(), nn.Linear(8, 1)",
            nth=2,
        ),
        Example(
            "an activation",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())
{_TAIL}""",
            old="nn.Linear(8, 1), nn.ReLU()",
            new="nn.Linear(8, 1)",
            nth=2,
        ),
        Example(
            "the only layer stays",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 1))
{_TAIL}""",
        ),
    )
