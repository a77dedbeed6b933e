"""N108."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.network.model_layers import layers_of
from netmend.changes.network.widths import set_layer_width, width_of_layer
from netmend.neutral.move import moved, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary.change import BUDGET, Change

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
class ScaleUnits:
    """Half or twice as many units in a hidden layer.

    Together with the layers that take its output; the output itself keeps its width.
    """

    code: ClassVar[str] = "N108"
    causes: ClassVar[tuple[str, ...]] = ("LYR-UNITS",)
    effort: ClassVar[int] = BUDGET

    most: int = 4096  # units: wider layers make trainings that nobody wants to wait for

    def propose(self, case: Case) -> Iterator[Change]:
        for layer in layers_of(case)[:-1]:
            present = width_of_layer(layer)
            for wanted in (present * 2, present // 2):
                if not 1 <= wanted <= self.most or wanted == present:
                    continue
                title = f"{layer.name}: {present} → {wanted} units"
                faces = set_layer_width(case, layer, wanted)
                yield from moved(self, "LYR-UNITS", title, faces, knob=f"width of {layer.name}")

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "twice, with the layer behind",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
{_TAIL}""",
            old="nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)",
            new="nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)",
        ),
        Example(
            "half, where both take a constant",
            before=f"""
import torch
from torch import nn
HIDDEN = 6
model = nn.Sequential(nn.Linear(2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
{_TAIL}""",
            old="HIDDEN = 6",
            new="HIDDEN = 3",
            nth=1,
        ),
        Example(
            "the output keeps its width",
            before=f"""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 1))
{_TAIL}""",
        ),
    )
