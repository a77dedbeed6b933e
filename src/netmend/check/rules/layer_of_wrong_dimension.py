from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.misfits import NORM, misfits
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.fc = nn.Linear(16, 32)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm2d(16)
        self.drop = nn.Dropout2d(0.3)

    def forward(self, x):
"""
)


@register
class LayerOfWrongDimension(StaticRule):
    """Batch norm or dropout is made for another number of axes than reach it.

    `BatchNorm1d` takes vectors and sequences, `BatchNorm2d` pictures; with the other kind the first call stops. `Dropout2d` behind a
    linear layer does not stop: of a sequence it drops along the wrong axis (of rows of features it does what `Dropout` does).

    Use the kind that fits the layer before: `BatchNorm2d` behind `Conv2d`, `BatchNorm1d` and `Dropout` behind `Linear`.
    """

    code = "S310"
    cause = "INP-LAYER-SHAPE"
    message = "The layer expects a different number of axes."
    triggers = ("BatchNorm", "Dropout2d")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("kinds agree", NET + "        return self.drop(self.bn2(self.conv(x)))\n"),
        Snippet("vector behind the pooling", NET + "        x = self.conv(x).mean((2, 3))\n        return self.bn1(x)\n"),
        Snippet("flattened between", HEAD + "net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.BatchNorm1d(400), nn.Linear(400, 2))\n"),
        Snippet("reshaped to a picture", HEAD + "def up(z):\n    x = nn.Linear(8, 64)(z).view(-1, 4, 4, 4)\n    return nn.BatchNorm2d(4)(x)\n"),
        Snippet("sequence", HEAD + "net = nn.Sequential(nn.Conv1d(4, 8, 3), nn.BatchNorm1d(8), nn.ReLU())\n"),
        Snippet("channel dropout of rows of features", NET + "        x = torch.flatten(self.conv(x), 1)\n        return self.drop(F.relu(self.fc(x)))\n"),
        Snippet("picture with channels last", HEAD + "def mix(x):\n    x = nn.Linear(8, 16)(x.permute(0, 2, 3, 1))\n"
                "    return nn.BatchNorm2d(16)(x.permute(0, 3, 1, 2))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one-dimensional behind a picture", NET + "        x = self.conv(x)\n        return F.relu(self.bn1(x))\n", line=16),
        Snippet("two-dimensional behind a linear layer", HEAD + "net = nn.Sequential(\n    nn.Linear(10, 16),\n    nn.BatchNorm2d(16),\n)\n", line=7),
        Snippet("channel dropout of a sequence", HEAD + "def mix(x):\n    x = nn.Linear(8, 16)(x.view(-1, 12, 8))\n    return nn.Dropout2d(0.2)(x)\n", line=7),
        Snippet("channel dropout behind a linear layer", NET + "        return self.drop(F.relu(self.fc(x)))\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for misfit in misfits(program):
            if misfit.kind == NORM:
                yield self.finding(program, misfit.op.node, misfit.message)
