from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import PLAIN, heads, where, width
from netmend.program.meaning.operations import LINEAR_MAPS
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.CrossEntropyLoss()
"""


@register
class WidthOneIntoCrossEntropy(StaticRule):
    """Cross-entropy is computed on an output with a single score.

    Softmax over one class always gives 1: the loss is exactly 0 from the first step, no gradient flows, and any class id but 0 is an error.

    For two classes use `BCEWithLogitsLoss` with the one output, or give the network one output per class.
    """

    code = "S212"
    cause = "LYR-OUT-SHAPE"
    message = "The network has one output, so this cross-entropy is always 0; use BCEWithLogitsLoss or one output per class."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("two outputs", HEAD + "net = nn.Linear(4, 2)\nloss = criterion(net(x), y)\n"),
        Snippet("binary loss", HEAD + "loss = F.binary_cross_entropy_with_logits(net(x), y)\n"),
        Snippet("one score for each choice", HEAD + "scores = net(x).view(-1, choices)\nloss = criterion(scores, y)\n"),
        Snippet("one score for each token", HEAD + "start = net(tokens).squeeze(-1)\nloss = criterion(start, y)\n"),
        Snippet("width from a parameter", "from torch import nn\ndef build(width=1):\n    return nn.Linear(4, width)\n"
                "def loss(x, y, width):\n    return nn.CrossEntropyLoss()(build(width)(x), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer of one unit", HEAD + "loss = criterion(net(x), y)\n", line=7),
        Snippet("in a class, as a function", "from torch import nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n    def __init__(self, classes=1):\n"
                "        super().__init__()\n        self.head = nn.Linear(16, classes)\n\n    def forward(self, x):\n        return self.head(x)\n\n"
                "model = Net()\nfor x, y in loader:\n    F.cross_entropy(model(x), y).backward()\n", line=14),
        Snippet("one channel of a mask", HEAD + "unet = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 1))\nloss = criterion(unet(x), mask)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use, op in heads(program, ("cross_entropy",), LINEAR_MAPS, PLAIN):
            if width(op) == 1:
                yield self.finding(program, use.node, related=where(program, "one output", op.node))
