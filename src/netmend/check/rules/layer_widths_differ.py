from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.misfits import WIDTH, misfits
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
CNN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(6 * {size} * {size}, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv(x)))
        return self.fc(torch.flatten(x, 1))

"""
LSTM = """\
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.lstm = nn.LSTM(32, 64, batch_first=True, bidirectional=True)
        self.head = nn.Linear({width}, 5)

    def forward(self, x):
        out, _ = self.lstm(self.embed(x))
        return self.head(out[:, -1])
"""


@register
class LayerWidthsDiffer(StaticRule):
    """A layer is made for another number of features or channels than reach it.

    The first call of the model stops with a shape error; with `view(-1, n)` the number of rows changes instead and the error shows
    far away, in the loss.

    Make the layer's input width what the layer before gives, or print the shape before it and use that.
    """

    code = "S308"
    cause = "LYR-DIM-MISMATCH"
    message = "The layer's input width does not match its input."
    triggers = ("nn.Linear(", "Linear(", "nn.Conv", "Conv1d(", "Conv2d(", "nn.LSTM(", "nn.GRU(", ".backward(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("widths agree", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))\n"),
        Snippet("flattened size agrees", HEAD + CNN.format(size=14) + "out = Net()(torch.randn(8, 3, 32, 32))\n"),
        Snippet("input size not known", HEAD + CNN.format(size=5) + "out = Net()(images)\n"),
        Snippet("both directions counted", HEAD + LSTM.format(width=128)),
        Snippet("reshaped between", HEAD + "def head(x):\n    x = nn.Linear(4, 8)(x)\n    return nn.Linear(4, 3)(x.view(-1, 4))\n"),
        Snippet("channels joined", HEAD + "def up(x, skip):\n    a, b = nn.Conv2d(3, 8, 3)(x), nn.Conv2d(3, 16, 3)(skip)\n"
                "    return nn.Conv2d(24, 8, 3)(torch.cat([a, b], dim=1))\n"),
        Snippet("width from the outside", HEAD + "def make(width):\n    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(64, 3))\n"),
        Snippet("different paths", HEAD + "def run(x, wide):\n    h = nn.Linear(4, 8)(x) if wide else nn.Linear(4, 16)(x)\n"
                "    return nn.Linear(8, 2)(h)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.ReLU(),\n    nn.Dropout(0.1),\n"
                "    nn.Linear(16, 3),\n)\n", line=9),
        Snippet("flattened size is wrong", HEAD + CNN.format(size=5) + "out = Net()(torch.randn(8, 3, 32, 32))\n", line=10),
        Snippet("second direction forgotten", HEAD + LSTM.format(width=64), line=10),
        Snippet("channels of an MNIST batch", HEAD + CNN.format(size=12) + "from torchvision import datasets, transforms\n"
                "data = datasets.MNIST('.', transform=transforms.ToTensor())\n"
                "for x, y in torch.utils.data.DataLoader(data, batch_size=64):\n    out = Net()(x)\n", line=8),
        Snippet("normalisation", HEAD + "def block():\n    return nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(32), nn.ReLU())\n", line=6),
        Snippet("in another file", "import torch\nfrom parts import Block\nBlock()(torch.randn(2, 10)).sum().backward()\n", line=5,
                files={"parts.py": "from torch import nn\nclass Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                       "        self.fc = nn.Linear(4, 2)\n    def forward(self, x): return self.fc(x)\n"}),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for misfit in misfits(program):
            if misfit.kind == WIDTH:
                layer = misfit.op.layer
                node = layer.node if layer is not None and layer.node is not None else misfit.op.node
                yield self.finding(program, node, misfit.message, cause=misfit.cause)
