"""R214."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from netmend.changes.case import Case
from netmend.changes.network.activations import applied_at, clamp_at, exchanged
from netmend.changes.network.heads_in_source import head_of, last_layer
from netmend.diagnose.measures.heads import Head
from netmend.library.losses import DISTANCES
from netmend.repair.repair import change, register
from netmend.testing.example import Example, example
from netmend.vocabulary.change import FREE, Change

_YES_NO = ("binary_cross_entropy",)
_BY_VALUE = ("binary_cross_entropy", *DISTANCES)


_example = partial(example, model="nn.Linear(2, 3)", criterion="nn.BCELoss()")


@register
@dataclass(frozen=True)
class ExchangeOutputActivation:
    """Put the activation that the loss is made for in the place of the one after the last layer.

    Sigmoid for yes/no answers of one unit or of several labels, log-softmax for a likelihood of classes. Probabilities stay
    probabilities, so nothing else has to change.
    """

    code: ClassVar[str] = "R214"
    cures: ClassVar[tuple[str, ...]] = ("ACT-OUT-WRONG", "ACT-OUT-MISSING", "LYR-SOFTMAX-MISSING", "ACT-DIM")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        head = head_of(case)
        if head is None:
            return
        old, new = self._exchange(head)
        if not new:
            return
        if old == "clamp":
            applied = clamp_at(case, last_layer(case, head), head.loss.called)
        else:
            applied = applied_at(case, head, old)
        if applied is not None:
            edits = exchanged(case, applied, new)
            yield from change(self, case, f"{new} instead of {old}", edits, knob="output activation")

    @staticmethod
    def _exchange(head: Head) -> tuple[str, str]:
        """The function to replace and the one to put there."""
        given, target, criterion = head.given, head.target, head.loss.criterion
        if head.last == "softmax" and criterion in ("nll_loss", "kl_div"):
            return "softmax", "log_softmax"
        if head.last == "softmax" and criterion in _BY_VALUE and target is not None:
            lone = head.width == 1 or len(given.shape) == 1
            exclusive = head.class_axis in target.normalised_axes
            if lone or (target.shape == given.shape and not exclusive and target.integral):
                return "softmax", "sigmoid"
        if criterion in _YES_NO and head.last == "clamp" and head.activation in ("relu", "tanh", "hardtanh"):
            return head.activation, "sigmoid"  # the clamp only keeps it off 0 and 1
        if criterion in _YES_NO and head.last in ("clamp", "relu", "tanh", "hardtanh"):
            return head.last, "sigmoid"
        return "", ""

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        _example(
            "softmax over one unit",
            model="nn.Sequential(nn.Linear(2, 1), nn.⟨Softmax(dim=1) → Sigmoid()⟩)",
            loss="criterion(model(torch.randn(8, 2)), torch.ones(8, 1))",
        ),
        _example(
            "probabilities where their logarithms are expected",
            criterion="",
            outputs="p = F.⟨softmax → log_softmax⟩(model(torch.randn(8, 2)), dim=1)",
            loss="F.nll_loss(p, torch.zeros(8, dtype=torch.long))",
        ),
        _example(
            "scores cut to 0..1 for a loss on probabilities",
            layers="self.fc = nn.Linear(2, 1)",
            forward="x = self.fc(x)\nreturn x.⟨clamp(1e-6, 1 - 1e-6) → sigmoid()⟩.squeeze(1)",
            loss="criterion(model(torch.randn(8, 2)), torch.ones(8))",
            cause="ACT-OUT-MISSING",
        ),
        _example(
            "softmax over classes stays",
            criterion="",
            loss="F.mse_loss(⟨F.softmax(model(torch.randn(8, 2)), dim=1)⟩, torch.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]])",
        ),
    )
