from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.modules import BATCH_NORMS
from netmend.program.meaning.operations import LINEAR_MAPS, operation
from netmend.program.meaning.paths import paths
from netmend.program.meaning.sizes import setting
from netmend.vocabulary.finding import Edit, Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\n"


@register
class BiasBeforeBatchNorm(StaticRule):
    """A layer right before batch norm has a bias.

    Batch norm subtracts the mean, and with it the bias: it has no effect, costs a little memory and time, and weight decay moves it
    for nothing.

    Make the layer with `bias=False`; batch norm has a bias of its own.
    """

    code = "S324"
    cause = "LYR-BIAS-EXTRA"
    message = "Batch norm cancels this layer's bias; create the layer with bias=False."
    advisory = True
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("without", HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())\n"),
        Snippet("activation between", HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))\n"),
        Snippet("bias from the outside", HEAD + "def block(bias):\n    return nn.Sequential(nn.Conv2d(1, 8, 3, bias=bias), nn.BatchNorm2d(8))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU())\n", line=4,
                fixed=HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())\n"),
        Snippet("in forward", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 8)\n        self.bn = nn.BatchNorm1d(8)\n\n"
                "    def forward(self, x):\n        return self.bn(self.fc(x))\n", line=7,
                fixed=HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 8, bias=False)\n        self.bn = nn.BatchNorm1d(8)\n\n"
                "    def forward(self, x):\n        return self.bn(self.fc(x))\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        known = paths(program)
        for op in known.ops:
            if op.name not in BATCH_NORMS or op.layer is None or op.input is None:
                continue
            before = operation(resolved(op.input))
            if before is None or before.name not in LINEAR_MAPS or before.layer is None or before.layer.open:
                continue
            position = 2 if before.name == "linear" else 7
            if (
                setting(before.layer.argument("bias", position), True) is not True
                or before.layer.node is None
            ):
                continue
            if known.only_user(before.value) is op.value:
                yield self.finding(program, before.layer.node, fix=_fix(program, before.layer))


def _fix(program: Program, layer: Call) -> Fix | None:
    node = layer.node
    if node is None or "bias" in layer.keywords or not (node.args or node.keywords):
        return None
    if program.module_of(node) is not program.module:
        return None
    place = program.place([*node.args, *node.keywords][-1])
    insert = Edit(place.end_line, place.end_column, place.end_line, place.end_column, ", bias=False")
    return Fix("Create the layer without bias", (insert,), "unsafe")
