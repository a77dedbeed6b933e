from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.engine.values import constant
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.operations import Op
from netmend.lint.understand.paths import UNCHANGED, paths, previous
from netmend.lint.understand.sizes import axes_of, numbers, width
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
NET = HEAD + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
"""
_BETWEEN = UNCHANGED | {"batchnorm1d", "batchnorm2d", "batchnorm3d", "flatten", "squeeze"}
_BETWEEN_MAPS = UNCHANGED | {"batchnorm1d", "batchnorm2d", "batchnorm3d", "avgpool1d", "avgpool2d", "avg_pool2d"}


@register
class NoActivationBetweenLinearMaps(StaticRule):
    """Two linear layers or convolutions follow each other without a non-linearity between them.

    A linear map of a linear map is a linear map: the first layer adds parameters but nothing that one layer could not do. The network
    cannot bend, and fits no better than a shallower one.

    Put an activation between them: `F.relu(...)`, `nn.GELU()`. A factorisation through fewer units, a depthwise convolution with the
    pointwise one behind it, and an encoder's code are left alone.
    """

    code = "S306"
    cause = "ACT-HID-MISSING"
    message = "No activation stands between this layer and the one before it; together they are one linear map."
    triggers = ("nn.Linear(", "nn.Conv", "Linear(", "Conv2d(", "Conv1d(")

    GOOD = (
        Snippet("activation between", NET + "        return self.fc2(self.drop(F.relu(self.fc1(x))))\n"),
        Snippet("code of an autoencoder", HEAD + "net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 8), nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 784))\n"),
        Snippet("low rank", HEAD + "lora = nn.Sequential(nn.Linear(768, 4, bias=False), nn.Linear(4, 768, bias=False))\n"),
        Snippet("depthwise and pointwise", HEAD + "conv = nn.Sequential(nn.Conv2d(32, 32, 3, groups=32), nn.Conv2d(32, 64, 1))\n"),
        Snippet("largest of a window", HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3))\n"),
        Snippet("features are used elsewhere too", NET + "        h = self.fc1(x)\n        return self.fc2(h), h\n"),
        Snippet("query and key", HEAD + "def scores(x, q, k):\n    return nn.Linear(8, 8)(x) @ nn.Linear(8, 8)(x).t()\n"),
        Snippet("own function between", NET + "        h = my_activation(self.fc1(x))\n        return self.fc2(h)\n"),
        Snippet("layer norm between", HEAD + "net = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.Linear(32, 8))\n"),
        Snippet("widths not known", HEAD + "def head(a, b, c):\n    return nn.Sequential(nn.Linear(a, b), nn.Linear(b, c))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", NET + "        x = self.drop(self.fc1(x))\n        return self.fc2(x)\n", line=14),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 32),\n    nn.Linear(32, 32),\n    nn.ReLU(),\n    nn.Linear(32, 3),\n)\n", line=7),
        Snippet("convolutions", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.conv1 = nn.Conv2d(1, 16, 3)\n        self.bn = nn.BatchNorm2d(16)\n        self.conv2 = nn.Conv2d(16, 32, 3)\n\n"
                "    def forward(self, x):\n        x = self.bn(self.conv1(x))\n        return F.relu(self.conv2(x))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = paths(program)
        for op in known.ops:
            if op.layer is None or not _is_plain(op):
                continue
            before = previous(op, _BETWEEN if op.name == "linear" else _BETWEEN_MAPS)
            if before is None or before.name != op.name or not _is_plain(before) or before.layer is op.layer:
                continue
            if _is_one_map(before, op) and known.leads_only_to(before, op):
                place = program.place(before.node)
                yield self.finding(
                    program, op.node, related=(Related("the layer before", place.file, place.line, place.column),)
                )


def _is_plain(op: Op) -> bool:
    """A linear layer, or a convolution with a real window over all channels."""
    if op.layer is None or op.layer.open:
        return False
    if op.name == "linear":
        return True
    axes = axes_of(op.name)
    if axes is None or not op.name.startswith("conv") or "transpose" in op.name:
        return False
    if constant(op.option("groups", 6), 1) != 1 or "groups" in op.layer.keywords or "stride" in op.layer.keywords:
        return False
    kernel = numbers(op.option("kernel_size", 2), axes)
    return all(size is not None and size > 1 for size in kernel)


def _is_one_map(first: Op, second: Op) -> bool:
    """Is the middle at least as wide as one of the ends, so that one layer could do the same?"""
    names = ("in_features", "out_features") if first.name == "linear" else ("in_channels", "out_channels")
    start, middle = width(first, names[0], 0), width(first, names[1], 1)
    taken, end = width(second, names[0], 0), width(second, names[1], 1)
    if start is None or middle is None or end is None or middle != taken:
        return False
    return middle >= min(start, end)
