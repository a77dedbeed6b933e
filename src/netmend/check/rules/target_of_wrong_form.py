from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.loss_shapes import LossShapes
from netmend.program.meaning.loss_targets import class_ids, is_real, one_hot
from netmend.program.meaning.losses import LossUse
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 5)
x = torch.randn(64, 4)
label = torch.randint(0, 5, (64,))
"""


@register
class TargetOfWrongForm(StaticRule):
    """Cross-entropy or NLLLoss is given a target of the wrong form: one-hot whole numbers, or class ids as real numbers.

    Class ids must be whole numbers, one per sample. Rows of class probabilities must be real numbers, and only cross-entropy takes them.
    Anything else stops with an error about types or sizes.

    Give the ids as they are (`long`); turn one-hot rows into ids with `argmax(1)`, or into probabilities with `.float()`.
    """

    code = "S226"
    cause = "INP-METHOD-SHAPE"
    message = "One-hot integer rows are not a valid target for {}; pass the class ids."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")

    GOOD = (
        Snippet("class ids", HEAD + "loss = F.cross_entropy(net(x), label)\n"),
        Snippet("probabilities", HEAD + "loss = F.cross_entropy(net(x), F.one_hot(label, 5).float())\n"),
        Snippet("mixed labels", HEAD + "rows = 0.9 * F.one_hot(label, 5) + 0.02\nloss = F.cross_entropy(net(x), rows)\n"),
        Snippet("back to ids", HEAD + "rows = F.one_hot(label, 5)\nloss = F.nll_loss(net(x).log_softmax(1), rows.argmax(1))\n"),
        Snippet("soft targets of unknown shape", HEAD + "def loss(scores, soft):\n    return F.cross_entropy(scores, soft.float())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one-hot", HEAD + "rows = F.one_hot(label, num_classes=5)\nloss = F.cross_entropy(net(x), rows)\n", line=9),
        Snippet("one-hot for the likelihood", HEAD + "nll = nn.NLLLoss()\nloss = nll(F.log_softmax(net(x), 1), F.one_hot(label, 5).float())\n", line=9),
        Snippet("ids as real numbers", HEAD + "loss = nn.CrossEntropyLoss()(net(x), label.float())\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        shapes: LossShapes | None = None
        for use in loss_uses(program):
            if use.kind not in ("cross_entropy", "nll"):
                continue
            title = "cross-entropy" if use.kind == "cross_entropy" else "NLLLoss"
            rows = one_hot(program, use.target)
            if rows is not None:
                if rows[1] or use.kind == "nll":
                    yield self.finding(program, use.node, self.message.format(title))
                continue
            if is_real(program, use.target):
                shapes = shapes or LossShapes(program)
                if _is_one_per_sample(program, use, shapes):
                    message = f"{title} needs class ids as integers, these are floats; use .long()."
                    yield self.finding(program, use.node, message, cause="INP-TYPE")


def _is_one_per_sample(program: Program, use: LossUse, shapes: LossShapes) -> bool:
    target, prediction = shapes.of(use.target), shapes.of(use.prediction)
    if target is None or len(target) != 1 or target[0] == 1:
        return False
    return prediction is not None and len(prediction) == 2 and class_ids(program, use.prediction) is None
