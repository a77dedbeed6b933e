from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, constant, resolved
from netmend.program.meaning.heads import PLAIN, ends_in, loss_uses, width
from netmend.program.meaning.loss_shapes import LossShapes
from netmend.program.meaning.operations import operation
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
"""


@register
class SoftmaxOverOne(StaticRule):
    """Softmax runs over an axis of size one.

    Softmax divides by the sum over its axis; with a single value the result is always 1, whatever the network computes. The output carries
    no information and no gradient.

    For two classes use sigmoid with the one output, or two outputs with softmax.
    """

    code = "S213"
    cause = "ACT-OUT-WRONG"
    message = "Softmax over a single output is always 1; use sigmoid, or one output per class."
    triggers = ("softmax", "Softmax")
    patterns = (r"Linear\([^()\n]*,\s*1\s*[,)]|out_features\s*=\s*1\b",)

    GOOD = (
        Snippet("sigmoid", HEAD + "p = torch.sigmoid(net(x))\n"),
        Snippet("several outputs", HEAD + "p = nn.Linear(4, 2)(x).softmax(-1)\n"),
        Snippet("attention over time", HEAD + "weights = torch.softmax(net(h), dim=1)\ncontext = (weights * h).sum(1)\n"),
        Snippet("column dropped first", HEAD + "weights = F.softmax(net(h).squeeze(-1), dim=-1)\n"),
        Snippet("width not known", HEAD + "def head(width):\n    return nn.Sequential(nn.Linear(4, width), nn.Softmax(dim=-1))(x)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("last axis", HEAD + "p = F.softmax(net(x), dim=-1)\n", line=6),
        Snippet("made, used elsewhere", HEAD + "model = nn.Sequential(\n    nn.Linear(4, 1),\n    nn.Softmax(dim=-1),\n)\n", line=8),
        Snippet("second axis of the output", HEAD + "model = nn.Sequential(net, nn.Softmax(dim=1))\nloss = F.binary_cross_entropy(model(x), y)\n", line=6),
        Snippet("in forward", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.out = nn.Linear(8, 1)\n\n"
                "    def forward(self, x):\n        return torch.softmax(self.out(torch.flatten(x, 1)), dim=1)\n\nNet()(images)\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        shapes: LossShapes | None = None
        outputs: set[int] | None = None
        told: set[int] = set()
        for event in program.calls:
            op = operation(event.value) if isinstance(event.value, Call) else None
            if op is None or op.name not in ("softmax", "log_softmax") or not _ends_in_one(op.input):
                continue
            axis = constant(op.option("dim", 0))
            if axis == 1:
                shapes = shapes or LossShapes(program)
                shape = shapes.of(op.input)
                if shape is None:
                    outputs = _outputs(program) if outputs is None else outputs
                if not (
                    len(shape) == 2 if shape is not None else outputs is not None and id(op.value) in outputs
                ):
                    continue
            if axis in (1, -1):
                told.add(id(op.layer))
                yield self.finding(program, op.node)
        for event in program.calls_of("torch.nn.Sequential"):
            for before, layer in pairwise(
                resolved(value) for value in (event.call.args if event.call is not None else ())
            ):
                if (
                    _is_single(before)
                    and isinstance(layer, Call)
                    and id(layer) not in told
                    and layer.node is not None
                ):
                    is_softmax = layer.qualified in ("torch.nn.Softmax", "torch.nn.LogSoftmax")
                    if is_softmax and constant(layer.argument("dim", 0)) == -1:
                        yield self.finding(program, layer.node)


def _is_single(value: Value) -> bool:
    """`nn.Linear(8, 1)`"""
    is_linear = isinstance(value, Call) and value.qualified == "torch.nn.Linear"
    return is_linear and isinstance(value, Call) and constant(value.argument("out_features", 1)) == 1


def _ends_in_one(value: Value | None) -> bool:
    ops = ends_in(value, ("linear", "bilinear"), PLAIN)
    return bool(ops) and all(width(op) == 1 for op in ops)


def _outputs(program: Program) -> set[int]:
    """Softmax calls that are a prediction: attention weights do not reach a loss by themselves."""
    found: set[int] = set()
    for use in loss_uses(program):
        found.update(id(resolved(op.value)) for op in ends_in(use.prediction, ("softmax", "log_softmax")))
    return found
