"""R401."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.repair.repair import Case, Example, change, register
from netmend.repair.values import set_argument
from netmend.vocabulary.change import SHORT_SEARCH, Change

_USUAL = {"SGD": 1e-2, "Adagrad": 1e-2, "Rprop": 1e-2, "Adadelta": 1.0, "LBFGS": 1.0, "ASGD": 1e-2}


@register
@dataclass(frozen=True)
class LearningRate:
    """Change the learning rate by powers of ten.

    Towards the usual rate of the optimiser first when the present one is far from it; then one and two powers of ten in
    the direction that the symptoms point to, or in both directions.
    """

    code: ClassVar[str] = "R401"
    cures: ClassVar[tuple[str, ...]] = ("HYP-LR-HIGH", "HYP-LR-LOW")
    effort: ClassVar[int] = SHORT_SEARCH
    explores: ClassVar[bool] = True

    far: float = 30.0  # times the usual rate: further away than anybody sets it on purpose

    def propose(self, case: Case) -> Iterator[Change]:
        optimizer = case.optimizer
        present = optimizer.groups[0].settings.get("lr") if optimizer and optimizer.groups else None
        if optimizer is None or not isinstance(present, float | int) or present <= 0:
            return
        for rate in self._rates(case.cause, float(present), _USUAL.get(optimizer.kind, 1e-3)):
            faces = set_argument(
                case.code, optimizer.created, "lr", f"{rate:g}", position=1, arguments=case.arguments
            )
            yield from change(
                self, case, f"learning rate {present:g} → {rate:g}", faces, knob=f"{optimizer.name}.lr"
            )

    def _rates(self, cause: str, present: float, usual: float) -> list[float]:
        down, up = [present / 10, present / 100], [present * 10, present * 100]
        rates = {"HYP-LR-HIGH": down, "HYP-LR-LOW": up}.get(cause, [down[0], up[0]])
        if max(present / usual, usual / present) >= self.far:
            rates = [usual, usual / 10 if present > usual else usual * 3, *rates]
        rounded = [float(f"{rate:.2g}") for rate in rates]
        return [
            rate for rate in dict.fromkeys(rounded) if 1e-7 <= rate <= 10 and not math.isclose(rate, present)
        ]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a literal, far too high: the usual rate",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=10)  # too high
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
""",
            old="lr=10)",
            new="lr=0.001)",
            mark="Adam(",
        ),
        Example(
            "the default of an option",
            before="""
import argparse
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-7, help="rate")
args = parser.parse_args([])
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.ones(4, 2)), torch.ones(4, 1))
    loss.backward()
    optimizer.step()
""",
            old="default=1e-7",
            new="default=0.01",
            mark="SGD(",
            cause="HYP-LR-LOW",
        ),
    )
