from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation
from netmend.vocabulary.finding import Finding, Related

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 8, 3)
        self.two = nn.Conv2d(8, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.bn2 = nn.BatchNorm2d(8)

    def forward(self, x, y):
"""


@register
class BatchNormShared(StaticRule):
    """One batch norm layer normalises the outputs of two different layers.

    Batch norm keeps a running mean and variance for evaluation. Two layers have different ones; a shared layer keeps a mixture that fits
    neither, so the network is good in training and bad in evaluation. Scale and shift are shared as well.

    Make one batch norm layer per place.
    """

    code = "S334"
    cause = "LYR-NORM-STATS"
    message = "This batch norm already normalises another layer's output, and its running statistics fit neither; create a second one."
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("one each", NET + "        return self.bn2(self.two(self.bn(self.one(x)).relu()))\n"),
        Snippet("two inputs of one layer", NET + "        return self.bn(self.one(x)), self.bn(self.one(y))\n"),
        Snippet("either or", NET + "        h = self.one(x) if y is None else self.two(x)\n        return self.bn(h)\n"),
        Snippet("layer norm", NET.replace("BatchNorm2d(8)", "LayerNorm(8)") + "        return self.bn(self.two(self.bn(self.one(x)).relu()))\n"),
        Snippet("without statistics", NET.replace("Norm2d(8)", "Norm2d(8, affine=False, track_running_stats=False)") + "        return self.bn(self.two(self.bn(self.one(x)).relu()))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("used twice", NET + "        h = self.bn(self.one(x)).relu()\n        return self.bn(self.two(h))\n", line=14),
        Snippet("in a row of layers", "from torch import nn\n\nnorm = nn.BatchNorm1d(16)\nnet = nn.Sequential(\n    nn.Linear(4, 16), norm, nn.ReLU(),\n    nn.Linear(16, 16), norm, nn.ReLU(),\n"
                "    nn.Linear(16, 2),\n)\nout = net(x)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        first: dict[int, tuple[Op, int]] = {}
        told: set[int] = set()
        for event in program.calls:
            op = operation(event.call)
            if (
                op is None
                or op.layer is None
                or not op.name.startswith("batchnorm")
                or op.layer.keywords
                or op.layer.open
            ):
                continue
            source = operation(op.input)
            if source is None or source.layer is None or source.name not in LINEAR_MAPS:
                continue
            known, layer = first.setdefault(id(op.layer), (op, id(source.layer)))
            if layer != id(source.layer) and id(op.layer) not in told and op.layer.node is not None:
                told.add(id(op.layer))
                place = program.place(known.node)
                related = (Related("It is used here before.", place.file, place.line, place.column),)
                node = op.layer.node if known.node is op.node else op.node  # the call of a Sequential is both
                yield self.finding(program, node, related=related)
