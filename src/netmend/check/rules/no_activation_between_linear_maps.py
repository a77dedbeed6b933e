from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.linear_stacks import bends, is_grown_stack, is_one_map, is_plain, is_trained
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding, Related

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
"""
)
_BETWEEN = UNCHANGED | {"batchnorm1d", "batchnorm2d", "batchnorm3d", "flatten", "squeeze"}
_BETWEEN_MAPS = UNCHANGED | {
    "batchnorm1d",
    "batchnorm2d",
    "batchnorm3d",
    "avgpool1d",
    "avgpool2d",
    "avg_pool2d",
}


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
    message = (
        "There is no activation between this layer and the one before it; together they are one linear map."
    )
    triggers = ("nn.Linear(", "nn.Conv", "Linear(", "Conv2d(", "Conv1d(")
    patterns = (r"append\(\s*(?:[\w.]*nn\.)?(?:Linear|Conv)", LITERAL_LAYERS)

    GOOD = (
        Snippet("activation between", NET + "        return self.fc2(self.drop(F.relu(self.fc1(x))))\n"),
        Snippet("code of an autoencoder", HEAD + "net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 8), nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 784))\n"),
        Snippet("low rank", HEAD + "lora = nn.Sequential(nn.Linear(768, 4, bias=False), nn.Linear(4, 768, bias=False), nn.ReLU())\n"),
        Snippet("depthwise and pointwise", HEAD + "conv = nn.Sequential(nn.Conv2d(32, 32, 3, groups=32), nn.Conv2d(32, 64, 1), nn.ReLU())\n"),
        Snippet("largest of a window", HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU())\n"),
        Snippet("features are used elsewhere too", NET + "        h = self.fc1(x)\n        return F.relu(self.fc2(h)), h\n"),
        Snippet("query and key", HEAD + "def scores(x, q, k):\n    return nn.Linear(8, 8)(x) @ torch.relu(nn.Linear(8, 8)(x)).t()\n"),
        Snippet("own function between", NET + "        h = my_activation(self.fc1(x))\n        return F.relu(self.fc2(h))\n"),
        Snippet("layer norm between", HEAD + "net = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.Linear(32, 8), nn.ReLU())\n"),
        Snippet("activation appended too", HEAD + "def mlp(widths):\n    layers = []\n    for a, b in zip(widths, widths[1:]):\n        layers.append(nn.Linear(a, b))\n        layers.append(nn.ReLU())\n"
                "    return nn.Sequential(*layers)\n"),
        Snippet("activation on one path", HEAD + "def mlp(widths, act):\n    layers = []\n    for a, b in zip(widths, widths[1:]):\n        layers.append(nn.Linear(a, b))\n        if act:\n            layers.append(act())\n"
                "    return nn.Sequential(*layers)\n"),
        Snippet("linear all over, not trained here", HEAD + "probe = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))\n"),
        Snippet("deep linear network", HEAD + "net = nn.Sequential(nn.Linear(4, 32, bias=False), nn.Linear(32, 4, bias=False), nn.Softmax(dim=1))\n"),
        Snippet("few channels of many", HEAD + "net = nn.Sequential(nn.Conv1d(1, 64, 3), nn.ReLU(), nn.Conv1d(64, 4, 3), nn.Conv1d(4, 2, 3))\n"),
        Snippet("widths not known", HEAD + "def head(a, b, c):\n    return nn.Sequential(nn.Linear(a, b), nn.Linear(b, c), nn.ReLU())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", NET + "        x = self.drop(self.fc1(x))\n        return F.relu(self.fc2(x))\n", line=14),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 32),\n    nn.Linear(32, 32),\n    nn.ReLU(),\n    nn.Linear(32, 3),\n)\n", line=7),
        Snippet("grown in a loop", HEAD + "def mlp(widths):\n    layers = []\n    for a, b in zip(widths, widths[1:]):\n        layers.append(nn.Linear(a, b))\n    return nn.Sequential(*layers)\n", line=9),
        Snippet("linear all over, trained", HEAD + "net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))\nF.mse_loss(net(x), y).backward()\n", line=5),
        Snippet("convolutions", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.conv1 = nn.Conv2d(1, 16, 3)\n        self.bn = nn.BatchNorm2d(16)\n        self.conv2 = nn.Conv2d(16, 32, 3)\n\n"
                "    def forward(self, x):\n        x = self.bn(self.conv1(x))\n        return F.relu(self.conv2(x))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
        known = paths(program)
        for op in known.ops:
            if op.layer is None or not is_plain(op):
                continue
            before = previous(op, _BETWEEN if op.name == "linear" else _BETWEEN_MAPS)
            if before is None or before.name != op.name or not is_plain(before) or before.layer is op.layer:
                continue
            if not is_one_map(before, op) or not known.leads_only_to(before, op):
                continue
            if bends(known, before, op) or is_trained(program, op):
                place = program.place(before.node)
                yield self.finding(
                    program,
                    op.node,
                    related=(Related("the layer before", place.file, place.line, place.column),),
                )
        for event in program.calls_of("torch.nn.Sequential"):
            if event.call is not None and is_grown_stack(program, event.call):
                yield self.finding(
                    program,
                    event.node,
                    "This Sequential gets only linear layers, so together they are one linear map; append an activation too.",
                )
