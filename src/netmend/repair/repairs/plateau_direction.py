"""R112."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.program.source.values import set_argument
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import BY_FACTS, Change

_example = partial(
    example,
    optimizer="torch.optim.SGD(model.parameters(), lr=0.01)",
    loop="for epoch in range(20)",
    loss="model(torch.ones(4, 2)).square().mean()",
    after_step="scheduler.step(loss.item())",
)


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
        _example(
            "a loss that should rise",
            setup='scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="⟨max → min⟩", patience=1)',
        ),
        _example(
            "as it should be",
            setup="⟨scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)⟩",
        ),
    )
