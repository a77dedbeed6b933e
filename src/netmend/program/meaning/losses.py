"""Losses: which one is used where, on what prediction and target."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved

_CLASSES = {
    "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll", "BCELoss": "bce", "BCEWithLogitsLoss": "bce_logits", "MSELoss": "mse",
    "L1Loss": "l1", "SmoothL1Loss": "smooth_l1", "HuberLoss": "huber", "KLDivLoss": "kl_div", "CTCLoss": "ctc",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin", "MultiMarginLoss": "multi_margin", "PoissonNLLLoss": "poisson_nll",
    "GaussianNLLLoss": "gaussian_nll", "HingeEmbeddingLoss": "hinge_embedding", "CosineEmbeddingLoss": "cosine_embedding",
    "TripletMarginLoss": "triplet_margin", "MarginRankingLoss": "margin_ranking", "SoftMarginLoss": "soft_margin", "NLLLoss2d": "nll",
}  # fmt: skip
_FUNCTIONS = {
    "cross_entropy": "cross_entropy", "nll_loss": "nll", "binary_cross_entropy": "bce", "binary_cross_entropy_with_logits": "bce_logits",
    "mse_loss": "mse", "l1_loss": "l1", "smooth_l1_loss": "smooth_l1", "huber_loss": "huber", "kl_div": "kl_div", "ctc_loss": "ctc",
    "multilabel_soft_margin_loss": "multilabel_soft_margin", "multi_margin_loss": "multi_margin", "poisson_nll_loss": "poisson_nll",
    "gaussian_nll_loss": "gaussian_nll", "soft_margin_loss": "soft_margin",
}  # fmt: skip
ELEMENTWISE = frozenset(("mse", "l1", "smooth_l1", "huber"))
TRIGGERS = (
    "Loss(", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "huber_loss", "kl_div",
)  # fmt: skip


@dataclass(frozen=True)
class LossUse:
    """One computation of a loss. `made` is the `nn.CrossEntropyLoss(...)` behind it, if it was an object."""

    kind: str
    event: Event
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
        call = event.call
        if call is None:
            continue
        use = loss_use(event, call)
        if use is not None:
            yield use


def loss_use(event: Event, call: Call) -> LossUse | None:
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
