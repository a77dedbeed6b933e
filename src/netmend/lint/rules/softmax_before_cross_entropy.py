from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.losses import losses
from netmend.lint.understand.operations import all_origins
from netmend.vocabulary.finding import Finding

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
    """Softmax is applied to what reaches the cross-entropy, which applies log-softmax itself.

    Normalising twice flattens the gradient: the loss cannot fall below about 1.46 with ten classes, training is slow and ends
    worse, and nothing crashes.

    Let the network return raw scores (logits); apply softmax only where probabilities are shown or thresholded.
    """

    code = "S201"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "Softmax feeds the cross-entropy, which normalises again; give it raw logits."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("raw logits", HEAD + "loss = criterion(net(x), y)\n"),
        Snippet(
            "softmax only for display",
            HEAD + "loss = criterion(net(x), y)\nprint(F.softmax(net(x), dim=1))\n",
        ),
        Snippet("another loss", HEAD + "loss = F.nll_loss(F.softmax(net(x), dim=1).log(), y)\n"),
        Snippet(
            "softmax on one path only",
            HEAD + "out = net(x)\nif probabilities:\n    out = out.softmax(1)\nloss = criterion(out, y)\n",
        ),
    )
    BAD = (
        Snippet("softmax layer last", HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))\nloss = criterion(net(x), y)\n", line=7),
        Snippet("softmax in forward of another file", "import torch\nfrom model import Net\nloss = torch.nn.functional.cross_entropy(Net()(x), y)\n",
                line=10, files={"model.py": MODEL}),
        Snippet("as a method", HEAD + "loss = criterion(net(x).softmax(-1).squeeze(), y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in losses(program):
            if use.kind == "cross_entropy":
                for op in all_origins(use.prediction, lambda op: op.name == "softmax"):
                    yield self.finding(program, op.node)
