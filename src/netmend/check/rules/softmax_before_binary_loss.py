from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import PLAIN, ends_in, heads, width
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


@register
class SoftmaxBeforeBinaryLoss(StaticRule):
    """Binary cross-entropy is computed on the softmax over several classes.

    Softmax says that exactly one class is right; binary cross-entropy asks for each class on its own. Together they punish each wrong class a
    second time, and gradients become small where the network is sure and wrong.

    For one class of many use `CrossEntropyLoss` on the raw scores with class ids; for several labels at once use sigmoid with `BCEWithLogitsLoss`.
    """

    code = "S335"
    cause = "LOS-SELECT"
    message = "Binary cross-entropy does not fit a softmax over {} classes; use CrossEntropyLoss on the raw scores, without softmax."
    triggers = ("BCELoss(", "binary_cross_entropy(")
    needs = "oftmax"

    GOOD = (
        Snippet("sigmoid", HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())\nloss = nn.BCELoss()(net(x), y)\n"),
        Snippet("the class of interest", HEAD + "net = nn.Linear(4, 2)\nloss = F.binary_cross_entropy(torch.softmax(net(x), 1)[:, 1], y)\n"),
        Snippet("width not known", HEAD + "def make(classes):\n    net = nn.Sequential(nn.Linear(4, classes), nn.Softmax(dim=1))\n    return F.binary_cross_entropy(net(x), y)\n"),
        Snippet("cross-entropy", HEAD + "net = nn.Linear(4, 3)\nloss = F.cross_entropy(net(x), y)\nshown = torch.softmax(net(x), 1)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("an object", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))\ncriterion = nn.BCELoss()\nloss = criterion(net(x), F.one_hot(y, 3).float())\n", line=7),
        Snippet("in a module", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(16, 10)\n\n    def forward(self, x):\n"
                "        return F.softmax(self.out(x), dim=-1)\n\ndef train(loader):\n    net = Net()\n    for x, y in loader:\n        loss = F.binary_cross_entropy(net(x), y)\n        loss.backward()\n", line=16),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        told: set[int] = set()
        for use, op in heads(program, ("bce",), ("softmax",), PLAIN):
            classes = [width(source) for source in ends_in(op.input, ("linear",), PLAIN)]
            if (
                classes
                and all(count is not None and count > 2 for count in classes)
                and id(use.node) not in told
            ):
                told.add(id(use.node))
                yield self.finding(program, use.node, self.message.format(classes[0]))
