from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads
from netmend.program.meaning.operations import Op
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
nll = nn.NLLLoss()
"""


@register
class LikelihoodOfProbabilities(StaticRule):
    """NLLLoss is given probabilities (softmax or sigmoid), but expects their logarithms.

    The loss then is minus the probability itself: it starts below zero, cannot pass -1, and its gradient vanishes for the samples that are
    most wrong.

    Use log_softmax before `NLLLoss`, or `CrossEntropyLoss` on raw scores.
    """

    code = "S207"
    cause = "LOS-CALC"
    message = "NLLLoss gets {}, but needs log-probabilities; use log_softmax, or cross-entropy on raw logits."
    triggers = ("NLLLoss", "nll_loss")

    GOOD = (
        Snippet("log-softmax", HEAD + "loss = nll(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("logarithm taken by hand", HEAD + "p = torch.softmax(net(x), dim=1)\nloss = nll(torch.log(p + 1e-9), y)\n"),
        Snippet("softmax for another loss", HEAD + "loss = F.mse_loss(net(x).softmax(1), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax layer last", HEAD + "model = nn.Sequential(net, nn.Softmax(dim=1))\nloss = nll(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=1))\nloss = nll(model(x), y)\n"),
        Snippet("as a function", HEAD + "loss = F.nll_loss(F.softmax(net(x), dim=-1), y)\n", line=7,
                fixed=HEAD + "loss = F.nll_loss(F.log_softmax(net(x), dim=-1), y)\n"),
        Snippet("rows picked in a graph network", HEAD + "out = net(data.x).softmax(dim=1)\nloss = nll(out[data.train_mask], data.y[data.train_mask])\n",
                line=7, fixed=HEAD + "out = net(data.x).log_softmax(dim=1)\nloss = nll(out[data.train_mask], data.y[data.train_mask])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("nll",), ("softmax", "sigmoid")):
            title = "softmax probabilities" if op.name == "softmax" else "sigmoid outputs"
            yield self.finding(program, op.node, self.message.format(title), fix=logarithmic(program, op))


def logarithmic(program: Program, op: Op) -> Fix | None:
    """Write log_softmax in the place of softmax."""
    node = op.value.node
    callee = node.func if isinstance(node, ast.Call) else None
    if not isinstance(callee, ast.Attribute):
        return None
    name = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}.get(callee.attr)
    if name is None:
        return None
    before = program.source(callee)[: -len(callee.attr)]
    edits = replace(program, callee, f"{before}{name}")
    return Fix("Use log_softmax", edits) if edits else None
