"""N106."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.losses import criterion_of, exchange
from netmend.neutral.move import moved, register
from netmend.repair.repair import Case, Example
from netmend.vocabulary import LossFact, OperandFact
from netmend.vocabulary.change import BY_FACTS, Change

# Losses of a prediction and a target of the same shape; those that need values between 0 and 1 are marked.
ALIKE = {
    "mse_loss": False,
    "l1_loss": False,
    "smooth_l1_loss": False,
    "huber_loss": False,
    "binary_cross_entropy_with_logits": False,
    "soft_margin_loss": False,
    "binary_cross_entropy": True,
}
_BY_CLASS = ("cross_entropy", "nll_loss")


@register
@dataclass(frozen=True)
class OtherLoss:
    """Another loss of the same prediction and target.

    Among those that take both in the form that they have; targets and outputs stay as they are.
    """

    code: ClassVar[str] = "N106"
    causes: ClassVar[tuple[str, ...]] = ("LOS-SELECT",)
    effort: ClassVar[int] = BY_FACTS

    def propose(self, case: Case) -> Iterator[Change]:
        loss = case.loss
        criterion = None if loss is None else criterion_of(case, loss)
        if loss is None or criterion is None:
            return
        for kind in self._others(loss):
            edits = exchange(criterion, kind)
            yield from moved(self, "LOS-SELECT", f"{kind} instead of {loss.criterion}", edits, knob="loss")

    def _others(self, loss: LossFact) -> Iterator[str]:
        prediction, target = _operand(loss, "prediction"), _operand(loss, "target")
        if prediction is None or target is None:
            return
        if prediction.shape == target.shape:
            shares = _is_share(prediction) and _is_share(target)
            others = [kind for kind, between in ALIKE.items() if shares or not between]
            others += ["cross_entropy"] if len(target.shape) > 1 and target.shape[1] > 1 else []
            yield from (kind for kind in others if kind != loss.criterion)
        elif loss.criterion in _BY_CLASS:
            yield from (kind for kind in _BY_CLASS if kind != loss.criterion)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a criterion",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    criterion(model(torch.randn(4, 2)), 3 * torch.ones(4, 1)).backward()
    optimizer.step()
""",
            old="nn.MSELoss()",
            new="nn.L1Loss()",
        ),
        Example(
            "a function of probabilities",
            before="""
import torch
import torch.nn.functional as F
from torch import nn
model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(4, 2)), torch.ones(4, 1)).backward()
    optimizer.step()
""",
            old="F.mse_loss",
            new="F.binary_cross_entropy",
            nth=5,
        ),
        Example(
            "classes",
            before="""
import torch
import torch.nn.functional as F
from torch import nn
model = nn.Linear(2, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.nll_loss(model(torch.randn(4, 2)), torch.tensor([0, 1, 2, 1])).backward()
    optimizer.step()
""",
            old="F.nll_loss",
            new="F.cross_entropy",
        ),
    )


def _operand(loss: LossFact, role: str) -> OperandFact | None:
    return next((operand for operand in loss.operands if operand.role == role), None)


def _is_share(operand: OperandFact) -> bool:
    low, high = operand.minimum, operand.maximum
    return low is not None and high is not None and low >= 0 and high <= 1
