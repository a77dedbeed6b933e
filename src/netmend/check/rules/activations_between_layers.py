"""Activations between layers: none, two, or one that does not belong there."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH_F, net
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value, resolved
from netmend.program.meaning.operations import ACTIVATIONS, HIDDEN_ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import (
    UNCHANGED,
    Paths,
    bends,
    is_grown_stack,
    is_one_map,
    is_plain,
    is_trained,
    paths,
    previous,
)
from netmend.program.meaning.sizes import LITERAL_LAYERS, setting

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
LINEAR_NET = net("fc1 = nn.Linear(20, 64)", "drop = nn.Dropout(0.2)", "fc2 = nn.Linear(64, 10)", head=TORCH_F)
_BETWEEN = UNCHANGED | {"batchnorm1d", "batchnorm2d", "batchnorm3d", "flatten", "squeeze"}
_BETWEEN_MAPS = UNCHANGED | {
    "batchnorm1d",
    "batchnorm2d",
    "batchnorm3d",
    "avgpool1d",
    "avgpool2d",
    "avg_pool2d",
}


class NoActivationBetweenLinearMaps(StaticRule, code="S306", cause="ACT-HID-MISSING", in_tests=False):
    """Two linear layers or convolutions follow each other without a non-linearity between them.

    A linear map of a linear map is a linear map: the first layer adds parameters but nothing that one layer could not do. The network
    cannot bend, and fits no better than a shallower one.

    Put an activation between them: `F.relu(...)`, `nn.GELU()`. A factorisation through fewer units, a depthwise convolution with the
    pointwise one behind it, and an encoder's code are left alone.
    """

    message = (
        "There is no activation between this layer and the one before it; together they are one linear map."
    )
    triggers = ("nn.Linear(", "nn.Conv", "Linear(", "Conv2d(", "Conv1d(")
    patterns = (r"append\(\s*(?:[\w.]*nn\.)?(?:Linear|Conv)", LITERAL_LAYERS)

    GOOD = (
        Snippet("activation between", LINEAR_NET + "        return self.fc2(self.drop(F.relu(self.fc1(x))))\n"),
        Snippet("code of an autoencoder", HEAD + "net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 8), nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 784))\n"),
        Snippet("depthwise and pointwise", HEAD + "conv = nn.Sequential(nn.Conv2d(32, 32, 3, groups=32), nn.Conv2d(32, 64, 1), nn.ReLU())\n"),
        Snippet("features are used elsewhere too", LINEAR_NET + "        h = self.fc1(x)\n        return F.relu(self.fc2(h)), h\n"),
        Snippet("activation appended too", HEAD + "def mlp(widths):\n    layers = []\n    for a, b in zip(widths, widths[1:]):\n        layers.append(nn.Linear(a, b))\n        layers.append(nn.ReLU())\n"
                "    return nn.Sequential(*layers)\n"),
        Snippet("linear all over, not trained here", HEAD + "probe = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))\n"),
        Snippet("deep linear network", HEAD + "net = nn.Sequential(nn.Linear(4, 32, bias=False), nn.Linear(32, 4, bias=False), nn.Softmax(dim=1))\n"),
        Snippet("few channels of many", HEAD + "net = nn.Sequential(nn.Conv1d(1, 64, 3), nn.ReLU(), nn.Conv1d(64, 4, 3), nn.Conv1d(4, 2, 3))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", LINEAR_NET + "        x = self.drop(self.fc1(x))\n        return F.relu(self.fc2(x))\n", line=14),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 32),\n    nn.Linear(32, 32),\n    nn.ReLU(),\n    nn.Linear(32, 3),\n)\n", line=7),
        Snippet("grown in a loop", HEAD + "def mlp(widths):\n    layers = []\n    for a, b in zip(widths, widths[1:]):\n        layers.append(nn.Linear(a, b))\n    return nn.Sequential(*layers)\n", line=9),
        Snippet("linear all over, trained", HEAD + "net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))\nF.mse_loss(net(x), y).backward()\n", line=5),
        Snippet("convolutions", HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.conv1 = nn.Conv2d(1, 16, 3)\n        self.bn = nn.BatchNorm2d(16)\n        self.conv2 = nn.Conv2d(16, 32, 3)\n\n"
                "    def forward(self, x):\n        x = self.bn(self.conv1(x))\n        return F.relu(self.conv2(x))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
                yield self.finding(program, op.node, see=[("the layer before", before.node)])
        for event in program.calls_of("torch.nn.Sequential"):
            if is_grown_stack(program, event.call):
                yield self.finding(
                    program,
                    event.node,
                    "This Sequential gets only linear layers, so together they are one linear map; append an activation too.",
                )


TWO_NET = net("fc1 = nn.Linear(8, 8)", "act = nn.ReLU()", "fc2 = nn.Linear(8, 1)", head=TORCH_F)
# Made of two functions on purpose: mish is x * tanh(softplus(x)); bounded heads; rectified bounded links of graphs.
_ON_PURPOSE = frozenset(
    (("softplus", "tanh"), ("tanh", "relu"), ("relu", "threshold"), ("softplus", "threshold"))
)


class TwoActivationsInARow(StaticRule, code="S307", cause="ACT-EXTRA", in_tests=False):
    """One activation function is applied to the result of another.

    The second squeezes what the first already bent: sigmoid behind ReLU never falls below 0.5, tanh behind sigmoid never below 0,
    ReLU behind ReLU does nothing. Usually a layer between them was forgotten, or the last activation was meant to stand alone.

    Keep one of the two, or put the missing layer between them.
    """

    message = "Two activations in a row: {second} is applied to the result of {first}; keep one of them."
    triggers = ("relu", "ReLU", "igmoid", "anh", "GELU", "gelu", "ELU")
    patterns = (r"(?:relu|ReLU|igmoid|anh|ELU)\w*\([^\n]*(?:relu|ReLU|igmoid|anh|ELU)\w*\(", LITERAL_LAYERS)

    GOOD = (
        Snippet("one each", TWO_NET + "        return torch.sigmoid(self.fc2(self.act(self.fc1(x))))\n"),
        Snippet("the same again at the end", TWO_NET + "        x = self.fc2(self.fc1(x))\n        x = self.act(x)\n        x = F.relu(x)\n        return x\n"),
        Snippet("two branches", TWO_NET + "        h = torch.tanh(self.fc1(x))\n        return torch.relu(h), torch.sigmoid(h)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sigmoid behind ReLU", TWO_NET + "        x = self.act(self.fc1(x))\n        return torch.sigmoid(F.relu(self.fc2(x)))\n", line=14),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.ReLU(),\n    nn.Tanh(),\n    nn.Linear(8, 1),\n)\n", line=8),
        Snippet("the same twice", TWO_NET + "        x = F.relu(self.act(self.fc1(x)))\n        return self.fc2(x)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = paths(program)
        for second in known.ops:
            if second.name not in HIDDEN_ACTIVATIONS or second.input is None:
                continue
            first = operation(resolved(second.input))
            if first is None or first.name not in ACTIVATIONS or (first.name, second.name) in _ON_PURPOSE:
                continue
            if known.only_user(first.value) is not second.value or not _are_written_together(
                program, first, second
            ):
                continue
            if first.name != second.name or _is_one_expression(program, first, second):
                yield self.finding(
                    program, second.node, self.message.format(first=first.name, second=second.name)
                )


def _are_written_together(program: Program, first: Op, second: Op) -> bool:
    """Both in one function or one container: a block that ends with an activation of its own is another matter."""
    return _holder(program, first) is _holder(program, second)


def _is_one_expression(program: Program, first: Op, second: Op) -> bool:
    """The same twice does no harm: told only where it is plainly written so, in one line or one container."""
    if second.layer is not None and second.value.node is second.layer.node:
        return True
    return program.statement(first.node) is program.statement(second.node)


def _holder(program: Program, op: Op) -> ast.AST | None:
    if op.layer is not None and op.value.node is op.layer.node:  # of a container
        return next(
            (above for above in program.above(op.node) if isinstance(above, ast.Call | ast.List)), None
        )
    return next(
        (
            above
            for above in program.above(op.node)
            if isinstance(above, ast.FunctionDef | ast.Lambda | ast.Module)
        ),
        None,
    )


SOFTMAX_NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.fc1 = nn.Linear(4, width)
        self.fc2 = nn.Linear(width, 3)
        self.mix = nn.Linear(width, 8, bias=False)

    def forward(self, x):
"""
)
_SOFTMAX = ("softmax", "log_softmax")
_THROUGH = UNCHANGED | {"batchnorm1d", "flatten", "squeeze", "view", "reshape"}
_MAPS = ("linear",)  # a convolution over attention weights mixes heads, on purpose


class SoftmaxBetweenLayers(StaticRule, code="S322", cause="ACT-HID-WRONG", in_tests=False):
    """Softmax is used as the activation between two hidden layers.

    Softmax makes all units of a layer share a sum of 1: most are pressed towards 0, gradients become tiny, and the layer behind sees
    hardly any signal. Training is slow and ends far worse than with ReLU.

    Use ReLU, GELU or tanh between layers; softmax belongs behind the last one, or into attention.
    """

    message = "Softmax between hidden layers shrinks the signal to almost nothing; use ReLU or GELU here."
    triggers = ("oftmax",)
    patterns = (LITERAL_LAYERS,)

    GOOD = (
        Snippet("at the end", SOFTMAX_NET + "        return F.softmax(self.fc2(F.relu(self.fc1(x))), dim=1)\n"),
        Snippet("soft look-up in a table", SOFTMAX_NET + "        return self.mix(F.softmax(self.fc1(x), dim=-1))\n"),
        Snippet("probabilities are used too", SOFTMAX_NET + "        p = F.softmax(self.fc1(x), dim=-1)\n        return self.fc2(p), p\n"),
        Snippet("early guess fed back", SOFTMAX_NET + "        guess = F.softmax(self.fc1(x), dim=-1)\n        return x + self.fc2(guess).to(x.device)\n"),
        Snippet("input of unknown origin", HEAD + "def refine(p):\n    return nn.Linear(4, 4)(p.softmax(-1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in forward", SOFTMAX_NET + "        h = F.softmax(self.fc1(x), dim=-1)\n        return self.fc2(h)\n", line=13),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.Softmax(dim=1),\n    nn.Linear(8, 3),\n)\n", line=7),
        Snippet("with dropout", SOFTMAX_NET + "        h = nn.Dropout(0.1)(torch.log_softmax(self.fc1(x), 1))\n        return self.fc2(h)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = paths(program)
        for op in known.ops:
            if op.name not in _MAPS or op.layer is None or _is_table(op):
                continue
            before = previous(op, _THROUGH)
            if before is None or before.name not in _SOFTMAX:
                continue
            first = previous(before, _THROUGH)
            if first is None or first.name not in _MAPS or first.layer is None:
                continue
            if known.leads_only_to(before, op) and not _is_added(known, op):
                yield self.finding(program, before.node)


def _is_added(known: Paths, op: Op) -> bool:
    """Is the result added to something: a guess that is fed back beside the main way?"""
    value: Value = op.value
    for _ in range(5):
        users = known.users.get(id(value), [])
        if any(isinstance(user, Operation) for user in users):
            return True
        after = next((user for user in users if isinstance(user, Call)), None)
        found = operation(after)
        if after is None or found is None or found.name not in UNCHANGED:
            return False
        value = after
    return False


def _is_table(op: Op) -> bool:
    """A linear map without bias, given shares, is a weighted sum of its columns."""
    if op.layer is None:
        return True
    return op.layer.open or setting(op.layer.argument("bias", 2), True) is not True
