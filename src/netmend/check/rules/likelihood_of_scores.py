from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads, where
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
nll = nn.NLLLoss()
"""
_SCORES = LINEAR_MAPS | {"relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "batchnorm1d", "batchnorm2d"}


@register
class LikelihoodOfScores(StaticRule):
    """NLLLoss is given raw scores: no log_softmax stands between the last layer and the loss.

    `NLLLoss` only picks minus the score of the right class. Without log_softmax nothing holds the scores together: the loss falls without
    end while all classes grow alike.

    Use `CrossEntropyLoss` on the raw scores, or apply log_softmax before `NLLLoss`.
    """

    code = "S208"
    cause = "LYR-SOFTMAX-MISSING"
    message = "NLLLoss gets raw scores; use cross-entropy, or apply log_softmax before it."
    triggers = ("NLLLoss", "nll_loss")

    GOOD = (
        Snippet("log-softmax in between", HEAD + "loss = nll(F.log_softmax(net(x), dim=1), y)\n"),
        Snippet("cross-entropy", HEAD + "loss = F.cross_entropy(net(x), y)\n"),
        Snippet("log-softmax inside the model", HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=-1))\nloss = nll(model(x).view(-1, 3), y)\n"),
        Snippet("by hand", HEAD + "out = net(x)\nloss = nll(out - out.logsumexp(1, keepdim=True), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer last", HEAD + "loss = nll(net(x), y)\n", line=7),
        Snippet("as a function in a loop", HEAD + "def train(model, loader):\n    for x, y in loader:\n        loss = F.nll_loss(model(x), y)\n"
                "        loss.backward()\n\ntrain(net, loader)\n", line=9),
        Snippet("in a class", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.conv = nn.Conv2d(3, 8, 3)\n        self.fc = nn.Linear(8, 4)\n\n    def forward(self, x):\n"
                "        return self.fc(torch.relu(self.conv(x)).mean((2, 3)))\n\nnet = Net()\nloss_fn = nn.NLLLoss(weight=w)\nloss = loss_fn(net(x), y)\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for use, op in heads(program, ("nll",), _SCORES, LAYOUT | {"dropout"}):
            if id(use) not in seen:
                seen.add(id(use))
                yield self.finding(
                    program, use.node, related=where(program, "the network ends here", op.node)
                )
