"""R112."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.program.source.values import set_argument
from netmend.repair.repair import Case, Example, change, register
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import BY_FACTS, Change

_LOOP = """
for epoch in range(20):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).square().mean()
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
"""
_HEAD = """
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""


@register
@dataclass(frozen=True)
class PlateauDirection:
    """Let a plateau schedule wait for the value to fall.

    With `mode="max"` every epoch in which a loss falls counts as one without progress, and the rate is lowered again and again.
    """

    code: ClassVar[str] = "R112"
    cures: ClassVar[tuple[str, ...]] = ("HYP-LR-SCHED",)
    effort: ClassVar[int] = BY_FACTS
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        for fact in case.trace.all(SchedulerFact):
            if fact.kind == "ReduceLROnPlateau" and fact.settings.get("mode") == "max":
                faces = set_argument(
                    case.code, fact.created, "mode", '"min"', position=1, arguments=case.arguments
                )
                yield from change(
                    self, case, "lower the rate when the loss stops falling", faces, knob="scheduler"
                )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a loss that should rise",
            before=_HEAD
            + 'scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)'
            + _LOOP,
            old='"max"',
            new='"min"',
            mark="ReduceLROnPlateau",
        ),
        Example(
            "as it should be",
            before=_HEAD
            + "scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)"
            + _LOOP,
            mark="ReduceLROnPlateau",
        ),
    )
