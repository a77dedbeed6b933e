from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads, where
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, Op
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.BCELoss()
"""
MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)
"""
# Operations whose results leave 0…1.
_UNBOUNDED = LINEAR_MAPS | {
    "batchnorm1d", "batchnorm2d", "batchnorm3d", "layernorm", "tanh", "relu", "leaky_relu", "elu", "gelu", "selu", "silu",
    "log_softmax", "log_sigmoid", "softplus",
}  # fmt: skip
_THROUGH = LAYOUT | {"clamp", "dropout"}


@register
class BinaryLossOnScores(StaticRule):
    """BCELoss is given raw scores: no sigmoid stands between the last layer and the loss.

    `BCELoss` takes logarithms of its input and needs probabilities. Scores outside 0…1 stop the program with an error; clamped into
    0…1 they have no gradient where they were cut off, and training stands still.

    Use `BCEWithLogitsLoss`, which applies sigmoid itself, or put a sigmoid behind the last layer.
    """

    code = "S206"
    cause = "ACT-OUT-MISSING"
    message = "BCELoss gets the raw output of {}, not probabilities; use BCEWithLogitsLoss or apply sigmoid."
    triggers = ("BCELoss", "binary_cross_entropy(")

    GOOD = (
        Snippet("sigmoid in between", HEAD + "loss = criterion(torch.sigmoid(net(x)), y)\n"),
        Snippet("the loss for scores", HEAD + "loss = nn.BCEWithLogitsLoss()(net(x), y)\n"),
        Snippet("sigmoid then clamp", HEAD + "p = net(x).sigmoid().clamp(1e-6, 1 - 1e-6)\nloss = F.binary_cross_entropy(p, y)\n"),
        Snippet("sigmoid on one path", HEAD + "out = net(x)\nif not self_normalised:\n    out = out.sigmoid()\nloss = criterion(out, y)\n"),
        Snippet("discriminator with sigmoid", HEAD + "D = nn.Sequential(net, nn.Sigmoid())\nloss = criterion(D(real), ones) + criterion(D(G(z)), zeros)\n"),
        Snippet("a model that is not known", "from torch import nn\ndef train(model, loader, criterion=nn.BCELoss()):\n    for x, y in loader:\n"
                "        criterion(model(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer last", HEAD + "loss = criterion(net(x), y)\n", line=7),
        Snippet("scores clamped", HEAD + "p = net(x).squeeze(1).clamp(1e-4, 1 - 1e-4)\nloss = F.binary_cross_entropy(p, y)\n", line=8),
        Snippet("model in another file", "import torch\nfrom torch import nn\nfrom model import Net\n\nclass Trainer:\n    def __init__(self):\n"
                "        self.net = Net()\n        self.bce = nn.BCELoss()\n\n    def step(self, x, y):\n        loss = self.bce(self.net(x), y)\n"
                "        loss.backward()\n\nTrainer().step(x, y)\n", line=11, files={"model.py": MODEL}),
        Snippet("tanh last", HEAD + "net = nn.Sequential(nn.Linear(4, 1), nn.Tanh())\nloss = criterion(net(x), y)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for use, op in heads(program, ("bce",), _UNBOUNDED, _THROUGH):
            if id(use) not in seen:
                seen.add(id(use))
                yield self.finding(
                    program,
                    use.node,
                    self.message.format(_title(op)),
                    related=where(program, "the network ends here", op.node),
                )


def _title(op: Op) -> str:
    return (
        "a convolution"
        if op.name.startswith("conv")
        else "a linear layer"
        if op.name in LINEAR_MAPS
        else op.name
    )
