from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.misfits import FLATTEN, misfits
from netmend.vocabulary.finding import Finding

NET = """\
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


@register
class FlattenMissingBeforeLinear(StaticRule):
    """The feature map of a 2-d or 3-d convolution reaches a linear layer with all its axes.

    `nn.Linear` works on the last axis, the width of the picture. The call stops with a shape error, or, when the width happens to
    fit, every row of pixels is mapped for itself and channels are never combined.

    Flatten behind the last pooling: `x = torch.flatten(x, 1)`, or average over the picture: `x.mean((2, 3))`.
    """

    code = "S309"
    cause = "LYR-FLATTEN-MISSING"
    message = "The feature map of a convolution reaches this Linear layer; flatten it first."
    triggers = ("nn.Conv2d", "nn.Conv3d", "Conv2d(", "Conv3d(")
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("flattened", NET + "        return self.fc(torch.flatten(self.pool(x), 1))\n"),
        Snippet("viewed", NET + "        x = self.pool(x)\n        return self.fc(x.view(x.size(0), -1))\n"),
        Snippet("averaged", NET + "        return self.fc(x.mean((2, 3)))\n"),
        Snippet("channels last", NET + "        return self.fc(x.permute(0, 2, 3, 1))\n"),
        Snippet("along the width", "from torch import nn\nnet = nn.Sequential(nn.Conv2d(1, 7, 3), nn.ReLU(), nn.Linear(80, 40))\n"),
        Snippet("squeezed", NET + "        return self.fc(self.pool(x).squeeze(-1).squeeze(-1))\n"),
        Snippet("tokens of a picture", NET + "        return self.fc(x.flatten(2).transpose(1, 2))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", NET + "        x = self.pool(x)\n        return self.fc(x)\n", line=15),
        Snippet("in a Sequential", "from torch import nn\nnet = nn.Sequential(\n    nn.Conv2d(3, 8, 3),\n    nn.ReLU(),\n    nn.MaxPool2d(2),\n"
                "    nn.Linear(8 * 15 * 15, 10),\n)\n", line=6),
        Snippet("pooling is not flattening", NET + "        return self.fc(F.max_pool2d(x, 2))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for misfit in misfits(program):
            if misfit.kind == FLATTEN:
                yield self.finding(program, misfit.op.node, misfit.message)
