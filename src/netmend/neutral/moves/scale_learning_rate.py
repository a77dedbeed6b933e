"""N101."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.good_rates import rate_text
from netmend.changes.loop.rate_places import present_rate, set_rate
from netmend.neutral.move import moved, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary import OptimizerFact
from netmend.vocabulary.change import SHORT_SEARCH, Change

_STEPS = """
for step in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1)).backward()
    optimizer.step()
"""


@register
@dataclass(frozen=True)
class ScaleLearningRate:
    """A learning rate ten times higher or lower.

    Of every optimiser, where its rate is set; several groups of parameters keep their ratio.
    """

    code: ClassVar[str] = "N101"
    causes: ClassVar[tuple[str, ...]] = ("HYP-LR-HIGH", "HYP-LR-LOW")
    effort: ClassVar[int] = SHORT_SEARCH

    factor: float = 10.0

    def propose(self, case: Case) -> Iterator[Change]:
        optimizers: tuple[OptimizerFact | None, ...] = tuple(case.trace.optimizers) or (None,)
        for optimizer in optimizers:
            present = present_rate(case, optimizer)
            if present is None or present <= 0:
                continue
            name = "rate" if optimizer is None else f"{optimizer.name}.lr"
            ways = (("HYP-LR-HIGH", present / self.factor), ("HYP-LR-LOW", present * self.factor))
            for cause, rate in ways:
                faces = set_rate(case, optimizer, rate, present)
                title = f"learning rate {present:g} → {rate_text(rate)}"
                yield from moved(self, cause, title, faces, knob=name)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a literal, lower",
            before=f"""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
{_STEPS}""",
            old="lr=0.02",
            new="lr=0.002",
        ),
        Example(
            "a constant, higher",
            before=f"""
import torch
from torch import nn
RATE = 1e-3
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), RATE)
{_STEPS}""",
            old="RATE = 1e-3",
            new="RATE = 0.01",
            nth=1,
        ),
    )
