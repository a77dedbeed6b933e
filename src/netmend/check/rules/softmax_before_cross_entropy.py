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
criterion = nn.CrossEntropyLoss()
"""
MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        return self.softmax(self.fc(x))
"""


@register
class SoftmaxBeforeCrossEntropy(StaticRule):
    """Softmax is applied before the cross-entropy, which applies log-softmax itself.

    Normalising twice flattens the gradient: the loss cannot fall below about 1.46 with ten classes, training is slow and ends
    worse, and nothing crashes.

    Let the network return raw scores (logits); apply softmax only where probabilities are shown or thresholded.
    """

    code = "S201"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "Softmax feeds the cross-entropy, which applies softmax again; pass raw logits."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("raw logits", HEAD + "loss = criterion(net(x), y)\n"),
        Snippet(
            "softmax only for display",
            HEAD + "loss = criterion(net(x), y)\nprint(F.softmax(net(x), dim=1))\n",
        ),
        Snippet("another loss", HEAD + "loss = F.nll_loss(F.softmax(net(x), dim=1).log(), y)\n"),
        Snippet(
            "one of several kinds of loss",
            HEAD
            + "criteria = {'ce': criterion, 'mse': nn.MSELoss()}\nloss = criteria[name](net(x).softmax(1), y)\n",
        ),
        Snippet(
            "softmax weighs the scores", HEAD + "out = net(x)\nloss = criterion(out * out.softmax(1), y)\n"
        ),
        Snippet(
            "softmax on one path only",
            HEAD + "out = net(x)\nif probabilities:\n    out = out.softmax(1)\nloss = criterion(out, y)\n",
        ),
    )
    BAD = (
        Snippet("softmax layer last", HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))\nloss = criterion(net(x), y)\n", line=7,
                fixed=HEAD + "net = nn.Sequential(nn.Linear(4, 3))\nloss = criterion(net(x), y)\n"),
        Snippet("softmax in forward of another file", "import torch\nfrom model import Net\nloss = torch.nn.functional.cross_entropy(Net()(x), y)\n",
                line=10, files={"model.py": MODEL}),
        Snippet("as a method", HEAD + "loss = criterion(net(x).softmax(-1).squeeze(), y)\n", line=7,
                fixed=HEAD + "loss = criterion(net(x).squeeze(), y)\n"),
        Snippet("as a function, rows picked", HEAD + "out = F.softmax(net(x), dim=1)\nloss = criterion(out[mask], y[mask])\n", line=7,
                fixed=HEAD + "out = net(x)\nloss = criterion(out[mask], y[mask])\n"),
        Snippet("criterion chosen in a dict", HEAD + "choices = {'plain': criterion, 'smooth': nn.CrossEntropyLoss(label_smoothing=0.1)}\n"
                "loss = choices[name](net(x).softmax(1), y)\n", line=8,
                fixed=HEAD + "choices = {'plain': criterion, 'smooth': nn.CrossEntropyLoss(label_smoothing=0.1)}\n"
                "loss = choices[name](net(x), y)\n"),
        Snippet("criterion given by the caller", HEAD + "class Trainer:\n    def __init__(self, net, criterion):\n        self.net = net\n"
                "        self.criterion = criterion\n\n    def step(self, x, y):\n        return self.criterion(F.softmax(self.net(x), 1), y)\n\n"
                "Trainer(net, criterion).step(x, y)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("cross_entropy",), ("softmax",)):
            edits = without(program, op)
            yield self.finding(program, op.node, fix=Fix("Drop the softmax", edits) if edits else None)
