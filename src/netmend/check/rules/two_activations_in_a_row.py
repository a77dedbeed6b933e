from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import resolved
from netmend.program.meaning.literal_layers import LITERAL_LAYERS
from netmend.program.meaning.operations import ACTIVATIONS, HIDDEN_ACTIVATIONS, Op, operation
from netmend.program.meaning.paths import paths
from netmend.program.meaning.test_code import is_test_code
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
NET = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 8)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(8, 1)

    def forward(self, x):
"""
)
# Made of two functions on purpose: mish is x * tanh(softplus(x)); bounded heads; rectified bounded links of graphs.
_ON_PURPOSE = frozenset(
    (("softplus", "tanh"), ("tanh", "relu"), ("relu", "threshold"), ("softplus", "threshold"))
)


@register
class TwoActivationsInARow(StaticRule):
    """One activation function is applied to the result of another.

    The second squeezes what the first already bent: sigmoid behind ReLU never falls below 0.5, tanh behind sigmoid never below 0,
    ReLU behind ReLU does nothing. Usually a layer between them was forgotten, or the last activation was meant to stand alone.

    Keep one of the two, or put the missing layer between them.
    """

    code = "S307"
    cause = "ACT-EXTRA"
    message = "Two activations in a row: {second} is applied to the result of {first}; keep one of them."
    triggers = ("relu", "ReLU", "igmoid", "anh", "GELU", "gelu", "ELU")
    patterns = (r"(?:relu|ReLU|igmoid|anh|ELU)\w*\([^\n]*(?:relu|ReLU|igmoid|anh|ELU)\w*\(", LITERAL_LAYERS)

    GOOD = (
        Snippet("one each", NET + "        return torch.sigmoid(self.fc2(self.act(self.fc1(x))))\n"),
        Snippet("mish by hand", HEAD + "def mish(x):\n    return x * torch.tanh(F.softplus(x))\n"),
        Snippet("attention scores", NET + "        weights = F.softmax(F.leaky_relu(self.fc1(x)), dim=1)\n        return weights * x\n"),
        Snippet("log of a softmax", NET + "        return torch.log(F.softmax(self.fc2(x), dim=1))\n"),
        Snippet("a dropout and a layer between", NET + "        x = F.dropout(F.relu(self.fc1(x)), training=self.training)\n        return torch.relu(self.fc2(x))\n"),
        Snippet("the block ends with its own", HEAD + "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 4)\n\n"
                "    def forward(self, x):\n        return F.relu(self.fc(x))\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.block = Block()\n\n    def forward(self, x):\n        return F.relu(self.block(x))\n"),
        Snippet("the same again at the end", NET + "        x = self.fc2(self.fc1(x))\n        x = self.act(x)\n        x = F.relu(x)\n        return x\n"),
        Snippet("two branches", NET + "        h = torch.tanh(self.fc1(x))\n        return torch.relu(h), torch.sigmoid(h)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sigmoid behind ReLU", NET + "        x = self.act(self.fc1(x))\n        return torch.sigmoid(F.relu(self.fc2(x)))\n", line=14),
        Snippet("in a Sequential", HEAD + "net = nn.Sequential(\n    nn.Linear(4, 8),\n    nn.ReLU(),\n    nn.Tanh(),\n    nn.Linear(8, 1),\n)\n", line=8),
        Snippet("the same twice", NET + "        x = F.relu(self.act(self.fc1(x)))\n        return self.fc2(x)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        if is_test_code(program):
            return
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
