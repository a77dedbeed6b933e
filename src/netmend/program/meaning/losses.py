"""Losses: which one is used where, on what prediction and target."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.losses import LOSSES, PAIRS
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved

_CLASSES = {loss.layer: loss.short for loss in LOSSES} | {"NLLLoss2d": "nll"}
_FUNCTIONS = {loss.name: loss.short for loss in LOSSES if loss.wants != PAIRS}
ELEMENTWISE = frozenset(loss.short for loss in LOSSES if loss.distance)
TRIGGERS = (
    "Loss(", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "huber_loss", "kl_div",
)  # fmt: skip


@dataclass(frozen=True)
class LossUse:
    """One computation of a loss. `made` is the `nn.CrossEntropyLoss(...)` behind it, if it was an object."""

    kind: str
    event: CallEvent
    call: Call
    prediction: Value | None
    target: Value | None
    made: Call | None = None

    @property
    def node(self) -> ast.AST:
        return self.event.node

    def option(self, name: str) -> Value | None:
        """`reduction`, `weight`, `label_smoothing`, …: given where the loss was made or called."""
        holder = self.made if self.made is not None else self.call
        return holder.keywords.get(name)


def losses(program: Program) -> Iterator[LossUse]:
    """Every loss that is computed, in order."""
    for event in program.calls:
        use = loss_use(event)
        if use is not None:
            yield use


def loss_use(event: CallEvent) -> LossUse | None:
    call = event.call
    made = resolved(call.function)
    if isinstance(made, Call):
        kind = loss_kind(made)
        if not kind or len(call.args) + len(call.keywords) < 2:
            return None
        return LossUse(kind, event, call, call.argument("input", 0), call.argument("target", 1), made)
    name = call.qualified
    for prefix in ("torch.nn.functional.", "torch."):
        if name.startswith(prefix) and name[len(prefix) :] in _FUNCTIONS:
            kind = _FUNCTIONS[name[len(prefix) :]]
            return LossUse(kind, event, call, call.argument("input", 0), call.argument("target", 1))
    return None


def loss_kind(value: Value) -> str:
    """`cross_entropy` for the value of `nn.CrossEntropyLoss()`; "" for anything else."""
    value = resolved(value)
    if isinstance(value, Call) and value.qualified.startswith("torch.nn."):
        return _CLASSES.get(value.qualified[len("torch.nn.") :], "")
    return ""
