"""Layers whose sizes do not fit together."""

from __future__ import annotations

from netmend.check.examples import TORCH_F, net
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.meaning.misfits import FLATTEN, KERNEL, NORM, WIDTH, misfits
from netmend.program.meaning.sizes import LITERAL_LAYERS

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


class LayerWidthsDiffer(StaticRule, code="S308", cause="LYR-DIM-MISMATCH"):
    """A layer is made for another number of features or channels than reach it.

    The first call of the model stops with a shape error; with `view(-1, n)` the number of rows changes instead and the error shows
    far away, in the loss.

    Make the layer's input width what the layer before gives, or print the shape before it and use that.
    """

    message = "The layer's input width does not match its input."
    triggers = ("nn.Linear(", "Linear(", "nn.Conv", "Conv1d(", "Conv2d(", "nn.LSTM(", "nn.GRU(", ".backward(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("widths agree", HEAD + "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))\n"),
        Snippet("a shape joined of two", HEAD + "def store(steps, env):\n    seen = torch.zeros((steps, 8) + env.shape)\n    for step in range(steps):\n"
                "        nn.Conv2d(4, 8, 3)(seen[step])\n"),
        Snippet("input size not known", HEAD + CNN.format(size=5) + "out = Net()(images)\n"),
        Snippet("channels joined", HEAD + "def up(x, skip):\n    a, b = nn.Conv2d(3, 8, 3)(x), nn.Conv2d(3, 16, 3)(skip)\n"
                "    return nn.Conv2d(24, 8, 3)(torch.cat([a, b], dim=1))\n"),
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

    def check(self, program: Program) -> Findings:
        for misfit in misfits(program):
            if misfit.kind == WIDTH:
                layer = misfit.op.layer
                node = layer.node if layer is not None and layer.node is not None else misfit.op.node
                yield self.finding(program, node, misfit.message, cause=misfit.cause)


FLATTEN_NET = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.conv(x))
"""


class FlattenMissingBeforeLinear(StaticRule, code="S309", cause="LYR-FLATTEN-MISSING"):
    """The feature map of a 2-d or 3-d convolution reaches a linear layer with all its axes.

    `nn.Linear` works on the last axis, the width of the picture. The call stops with a shape error, or, when the width happens to
    fit, every row of pixels is mapped for itself and channels are never combined.

    Flatten behind the last pooling: `x = torch.flatten(x, 1)`, or average over the picture: `x.mean((2, 3))`.
    """

    message = "The feature map of a convolution reaches this Linear layer; flatten it first."
    triggers = ("nn.Conv2d", "nn.Conv3d", "Conv2d(", "Conv3d(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("flattened", FLATTEN_NET + "        return self.fc(torch.flatten(self.pool(x), 1))\n"),
        Snippet("viewed", FLATTEN_NET + "        x = self.pool(x)\n        return self.fc(x.view(x.size(0), -1))\n"),
        Snippet("channels last", FLATTEN_NET + "        return self.fc(x.permute(0, 2, 3, 1))\n"),
        Snippet("along the width", "from torch import nn\nnet = nn.Sequential(nn.Conv2d(1, 7, 3), nn.ReLU(), nn.Linear(80, 40))\n"),
        Snippet("squeezed", FLATTEN_NET + "        return self.fc(self.pool(x).squeeze(-1).squeeze(-1))\n"),
        Snippet("tokens of a picture", FLATTEN_NET + "        return self.fc(x.flatten(2).transpose(1, 2))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", FLATTEN_NET + "        x = self.pool(x)\n        return self.fc(x)\n", line=15),
        Snippet("in a Sequential", "from torch import nn\nnet = nn.Sequential(\n    nn.Conv2d(3, 8, 3),\n    nn.ReLU(),\n    nn.MaxPool2d(2),\n"
                "    nn.Linear(8 * 15 * 15, 10),\n)\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for misfit in misfits(program):
            if misfit.kind == FLATTEN:
                yield self.finding(program, misfit.op.node, misfit.message)


DIMENSION_NET = net(
    "conv = nn.Conv2d(3, 16, 3)",
    "fc = nn.Linear(16, 32)",
    "bn1 = nn.BatchNorm1d(16)",
    "bn2 = nn.BatchNorm2d(16)",
    "drop = nn.Dropout2d(0.3)",
    head=TORCH_F,
)


class LayerOfWrongDimension(StaticRule, code="S310", cause="INP-LAYER-SHAPE"):
    """Batch norm or dropout is made for another number of axes than reach it.

    `BatchNorm1d` takes vectors and sequences, `BatchNorm2d` pictures; with the other kind the first call stops. `Dropout2d` behind a
    linear layer does not stop: of a sequence it drops along the wrong axis (of rows of features it does what `Dropout` does).

    Use the kind that fits the layer before: `BatchNorm2d` behind `Conv2d`, `BatchNorm1d` and `Dropout` behind `Linear`.
    """

    message = "The layer expects a different number of axes."
    triggers = ("BatchNorm", "Dropout2d")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("kinds agree", DIMENSION_NET + "        return self.drop(self.bn2(self.conv(x)))\n"),
        Snippet("vector behind the pooling", DIMENSION_NET + "        x = self.conv(x).mean((2, 3))\n        return self.bn1(x)\n"),
        Snippet("channel dropout of rows of features", DIMENSION_NET + "        x = torch.flatten(self.conv(x), 1)\n        return self.drop(F.relu(self.fc(x)))\n"),
        Snippet("picture with channels last", HEAD + "def mix(x):\n    x = nn.Linear(8, 16)(x.permute(0, 2, 3, 1))\n"
                "    return nn.BatchNorm2d(16)(x.permute(0, 3, 1, 2))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one-dimensional behind a picture", DIMENSION_NET + "        x = self.conv(x)\n        return F.relu(self.bn1(x))\n", line=16),
        Snippet("two-dimensional behind a linear layer", HEAD + "net = nn.Sequential(\n    nn.Linear(10, 16),\n    nn.BatchNorm2d(16),\n)\n", line=7),
        Snippet("channel dropout of a sequence", HEAD + "def mix(x):\n    x = nn.Linear(8, 16)(x.view(-1, 12, 8))\n    return nn.Dropout2d(0.2)(x)\n", line=7),
        Snippet("channel dropout behind a linear layer", DIMENSION_NET + "        return self.drop(F.relu(self.fc(x)))\n", line=15),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for misfit in misfits(program):
            if misfit.kind == NORM:
                yield self.finding(program, misfit.op.node, misfit.message)


DEEP = """\
net = nn.Sequential(
    nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 5),
)
"""


class KernelLargerThanInput(StaticRule, code="S330", cause="LYR-FILTER"):
    """A kernel or pooling window is larger than what is left of the picture.

    Each unpadded convolution and each pooling shrinks the picture; with constant sizes it can be counted that nothing is left. The
    first call stops with "Kernel size can't be greater than actual input size" or "Output size is too small".

    Pad the convolutions (`padding=1` for a kernel of 3), pool less often, or use larger pictures.
    """

    message = "The kernel is larger than the feature map it gets."
    triggers = ("nn.Conv", "Pool", "_pool", "Conv2d(", "Conv1d(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("large enough", HEAD + DEEP + "out = net(torch.randn(4, 1, 64, 64))\n"),
        Snippet("padded", HEAD + "net = nn.Sequential(nn.Conv2d(1, 4, 5, padding=2), nn.MaxPool2d(4), nn.Conv2d(4, 4, 3, padding=1))\n"
                "out = net(torch.zeros(1, 1, 4, 4))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("third convolution", HEAD + DEEP + "out = net(torch.randn(4, 1, 28, 28))\n", line=8),
        Snippet("pooling as a function", HEAD + "def shrink(x):\n    return F.max_pool2d(F.max_pool2d(x, 2), 4)\n\n"
                "out = shrink(torch.rand(2, 3, 6, 6))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for misfit in misfits(program):
            if misfit.kind == KERNEL:
                yield self.finding(program, misfit.op.node, misfit.message)
