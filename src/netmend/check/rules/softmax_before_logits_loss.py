from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads, without
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.BCEWithLogitsLoss()
"""


@register
class SoftmaxBeforeLogitsLoss(StaticRule):
    """Softmax is applied to what reaches BCEWithLogits, which expects raw scores.

    The loss applies sigmoid to probabilities: every output becomes a value between 0.5 and 0.73, and a class that is certainly absent
    still counts as even odds.

    Give `BCEWithLogitsLoss` raw scores; where classes exclude each other use `CrossEntropyLoss` on raw scores.
    """

    code = "S205"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "{} feeds BCEWithLogits, which applies sigmoid on top; pass raw logits, or use cross-entropy."
    triggers = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")

    GOOD = (
        Snippet("raw scores", HEAD + "loss = criterion(net(x), y)\n"),
        Snippet("probabilities for the plain loss", HEAD + "loss = F.binary_cross_entropy(net(x).softmax(1), y)\n"),
        Snippet("attention inside", HEAD + "weights = torch.softmax(net(x), dim=1)\nloss = criterion((weights * x).sum(1), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax layer last", HEAD + "model = nn.Sequential(net, nn.Softmax(dim=1))\nloss = criterion(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net)\nloss = criterion(model(x), y)\n"),
        Snippet("one column of it", HEAD + "p = F.softmax(net(x), dim=1)\nloss = criterion(p[:, 1], y)\n", line=7,
                fixed=HEAD + "p = net(x)\nloss = criterion(p[:, 1], y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("bce_logits",), ("softmax", "log_softmax")):
            edits = without(program, op)
            fix = Fix(f"Drop the {op.name}", edits) if edits else None
            yield self.finding(program, op.node, self.message.format(op.name), fix=fix)
