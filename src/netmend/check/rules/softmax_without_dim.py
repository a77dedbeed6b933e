from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.heads import with_argument
from netmend.program.meaning.loss_shapes import LossShapes
from netmend.program.meaning.operations import Op, operation
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nnet = nn.Linear(4, 3)\n"
_PLAIN = frozenset(("masked_fill", "float", "to", "clamp", "dropout", "div", "mul", "add", "type_as", "half"))


@register
class SoftmaxWithoutDim(StaticRule):
    """Softmax or log_softmax is called without saying along which axis, on something with three axes or on attention scores.

    Without `dim` torch guesses by the number of axes: axis 0 for three, the batch of a sequence model, and axis 1 for two or four. For
    sequences and attention the guess is wrong: samples compete with each other, silently. (The guess itself is deprecated.)

    Give `dim`: -1 for sequences and attention.
    """

    code = "S219"
    cause = "ACT-DIM"
    message = "{} without dim guesses the axis, and guesses wrong here (0 for three axes); pass dim=-1."
    triggers = ("softmax(", "Softmax(", "softmin(", "Softmin(")
    # No comma, no `dim=` and no lone number between the brackets, which may hold others two deep.
    patterns = (r"[sS]oft(?:max|min)\((?!\s*-?\d+\s*\)|\s*dim\s*=)(?:[^,()]|\((?:[^()]|\([^()]*\))*\))*\)",)

    GOOD = (
        Snippet("given", HEAD + "p = F.softmax(net(torch.randn(8, 5, 4)), dim=1)\n"),
        Snippet("given by position", HEAD + "p = F.log_softmax(net(torch.randn(8, 5, 4)), -1)\nq = nn.Softmax(1)\n"),
        Snippet("two axes, the guess is right", HEAD + "p = F.softmax(net(torch.randn(8, 4)))\n"),
        Snippet("number of axes not known", HEAD + "def policy(q):\n    return F.softmax(net(q))\n"),
        Snippet("scores of all pairs in one table", HEAD + "h = net(x)\nw = F.softmax(h @ h.t())\n"),
        Snippet("maps of classes", HEAD + "p = F.softmax(torch.randn(2, 5, 8, 8))\n"),
        Snippet("options unpacked", HEAD + "p = F.softmax(net(torch.randn(8, 5, 4)), **options)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("three axes", HEAD + "p = F.log_softmax(net(torch.randn(8, 5, 4)))\n", line=6,
                fixed=HEAD + "p = F.log_softmax(net(torch.randn(8, 5, 4)), dim=-1)\n"),
        Snippet("layer for attention", "from torch import nn\n\nclass Attention(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
                "        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)\n        self.softmax = nn.Softmax()\n\n    def forward(self, x):\n"
                "        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5\n        return self.softmax(scores) @ x\n", line=7,
                fixed="from torch import nn\n\nclass Attention(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
                "        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)\n        self.softmax = nn.Softmax(dim=-1)\n\n    def forward(self, x):\n"
                "        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5\n        return self.softmax(scores) @ x\n"),
        Snippet("third axis used afterwards", HEAD + "def scores(outputs):\n    logits = outputs.logits\n    p = F.softmax(logits)[:, :, :-1]\n    return p.max(-1)\n", line=8,
                fixed=HEAD + "def scores(outputs):\n    logits = outputs.logits\n    p = F.softmax(logits, dim=-1)[:, :, :-1]\n    return p.max(-1)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        shapes: LossShapes | None = None
        three: set[int] | None = None
        for event in program.calls:
            op = operation(event.value) if isinstance(event.value, Call) else None
            if op is None or op.name not in ("softmax", "log_softmax", "softmin") or _is_told(op):
                continue
            shapes = shapes or LossShapes(program)
            shape = shapes.of(op.input)
            if shape is None:
                three = _with_three_axes(program) if three is None else three
            is_wrong = (
                len(shape) == 3
                if shape is not None
                else three is not None and bool(three & {id(resolved(op.value)), _id(op.input)})
            )
            if is_wrong or _is_attention(op.input):
                node = op.layer.node if op.layer is not None and op.layer.node is not None else op.node
                edits = with_argument(program, node, "dim=-1")
                fix = Fix("Add dim=-1", edits) if edits else None
                yield self.finding(program, node, self.message.format(op.name), fix=fix)


def _is_told(op: Op) -> bool:
    """Is `dim` given, or can that not be told?"""
    holder = op.layer if op.layer is not None else op.value
    if holder.open or (op.layer is None and op.value.method):
        return True
    name = holder.qualified
    known = name.startswith("torch.nn.") and not name.endswith("2d")
    return not known or op.option("dim", 0) is not None


def _id(value: Value | None) -> int:
    return id(resolved(value)) if value is not None else 0


def _with_three_axes(program: Program) -> set[int]:
    """Values whose third axis is used: `p[:, :, 0]`, `x.shape[2]`, `x.size(2)`."""
    found: set[int] = set()
    for event in program.events:
        call = event.call
        for value in (event.value, *(call.args if call is not None else ())):
            value = resolved(value)
            if isinstance(value, Item):
                base, key = resolved(value.base), value.key
                if isinstance(base, Attribute) and base.name == "shape" and constant(key) == 2:
                    found.add(_id(base.base))
                elif isinstance(key, Collection) and len([part for part in key.items if _is_axis(part)]) == 3:
                    found.add(id(base))
        if call is not None and call.method == "size" and call.args and constant(call.args[0]) == 2:
            found.add(_id(call.receiver))
    return found


def _is_axis(key: Value) -> bool:
    return not (isinstance(key, Const) and (key.value is None or key.value is Ellipsis))


def _is_attention(value: Value | None) -> bool:
    """`q @ k.transpose(1, 2)`, `torch.bmm(q, k)`, scaled and masked."""
    for _ in range(12):
        value = resolved(value) if value is not None else None
        op = operation(value)
        if isinstance(value, Operation) and len(value.operands) == 2:
            if value.operator == "@":
                return _turns_batch(value.operands[1])
            value = value.operands[0] if value.operator in ("/", "*", "+") else None
        elif op is not None and op.name == "bmm":
            return True
        elif op is not None and op.name == "matmul" and len(op.inputs) == 2:
            return _turns_batch(op.inputs[1])
        elif op is not None and op.name in _PLAIN and op.inputs:
            value = op.inputs[0]
        else:
            return False
    return False


def _turns_batch(value: Value) -> bool:
    op = operation(resolved(value))
    return (
        op is not None
        and op.name == "transpose"
        and {constant(axis) for axis in op.inputs[1:]} in ({1, 2}, {2, 3})
    )
