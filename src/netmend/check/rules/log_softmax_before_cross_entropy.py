from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads, without
from netmend.vocabulary.finding import SAFE, UNSAFE, Finding, Fix

HEAD = """\
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""


@register
class LogSoftmaxBeforeCrossEntropy(StaticRule):
    """Log-softmax is applied to what reaches the cross-entropy, which applies it itself.

    The second log-softmax changes nothing but costs time, and it hides which loss was meant: the pair is `nll_loss` with
    log-softmax, or `cross_entropy` alone.

    Leave the log-softmax away, or use `nll_loss`.
    """

    code = "S202"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "log_softmax feeds the cross-entropy, which applies it again; remove it or use nll_loss."
    advisory = True
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("with the likelihood", HEAD + "loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("raw scores", HEAD + "loss = criterion(net(x), y)\nprint(F.log_softmax(net(x), dim=1))\n"),
        Snippet("over another axis on one path", HEAD + "out = net(x)\nif flat:\n    out = out.log_softmax(1)\nloss = criterion(out, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("as a function", HEAD + "loss = criterion(F.log_softmax(net(x), dim=1), y)\n", line=6,
                fixed=HEAD + "loss = criterion(net(x), y)\n"),
        Snippet("as the last layer", HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=1))\nloss = F.cross_entropy(model(x), y)\n", line=6,
                fixed=HEAD + "model = nn.Sequential(net)\nloss = F.cross_entropy(model(x), y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use, op in heads(program, ("cross_entropy",), ("log_softmax",)):
            edits = without(program, op)
            # Nothing else sees the value when the call stands inside the loss's own.
            alone = op.value.node in getattr(use.call.node, "args", ())
            fix = Fix("Drop the log_softmax", edits, SAFE if alone else UNSAFE) if edits else None
            yield self.finding(program, op.node, fix=fix)
