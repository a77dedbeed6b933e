"""Formulas that lose their digits or give NaN."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH_F
from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Operation, Value, constant, resolved
from netmend.program.meaning.gradient_flow import is_computed, lost
from netmend.program.meaning.operations import LAYOUT, operation, origins, walk
from netmend.program.meaning.training import backward_calls

HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
"""
_SOFTMAX = "The logarithm of softmax becomes -inf where it rounds to 0; use log_softmax on the raw scores."
_SIGMOID = "The logarithm of 1 - sigmoid becomes -inf from a score of 17 on; use logsigmoid or BCEWithLogits on the raw scores."
_REST = "The logarithm of 1 - softmax becomes -inf where a class is sure; keep it away from 0 with clamp(min=1e-7)."


class LogOfSoftmax(StaticRule, code="S225", cause="LOS-CALC"):
    """The loss takes the logarithm of a softmax, or of one minus a sigmoid, that was computed before.

    For scores that are clearly apart softmax and sigmoid round to exactly 0 (or 1): the logarithm is minus infinity, the loss infinite, the
    next gradient NaN. `1 - sigmoid` is 0 from a score of 17 on. Sigmoid itself gets to 0 only below -100 and is left alone.

    Use the joint functions, which stay exact: log_softmax, `F.logsigmoid`, cross-entropy or `BCEWithLogitsLoss` on raw scores.
    """

    message = _SOFTMAX
    triggers = (".backward(",)

    GOOD = (
        Snippet("jointly", HEAD + "loss = F.nll_loss(F.log_softmax(net(x), 1), y)\nloss.backward()\n"),
        Snippet("small scores only", HEAD + "loss = -torch.bmm(a, b).sigmoid().log().mean()\nloss.backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax", HEAD + "p = torch.softmax(net(x), dim=1)\nloss = -(y * torch.log(p)).sum(1).mean()\nloss.backward()\n", line=7),
        Snippet("sigmoid and its complement", HEAD + "def bce(p, y):\n    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()\n\n"
                "for x, y in loader:\n    loss = bce(torch.sigmoid(net(x)).squeeze(1), y)\n    loss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        lines: set[tuple[str, int]] = set()
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                for part in walk(loss):
                    op = operation(part) if isinstance(part, Call) and id(part) not in seen else None
                    seen.add(id(part))
                    if op is None or op.name != "log" or not op.inputs or op.layer is not None:
                        continue
                    message = _message(op.inputs[0])
                    place = program.place(op.node)
                    if message and (place.file, place.line) not in lines:
                        lines.add((place.file, place.line))
                        yield self.finding(program, op.node, message)


def _message(value: Value) -> str:
    """What is wrong with the logarithm of a value; empty unless it is a softmax, or one minus a softmax or sigmoid, on every path."""
    value, is_rest = resolved(value), False
    if isinstance(value, Operation) and value.operator == "-" and len(value.operands) == 2:
        first = resolved(value.operands[0])
        if not isinstance(first, Const) or constant(first) != 1:
            return ""
        value, is_rest = resolved(value.operands[1]), True
    names = {op.name if (op := operation(origin)) is not None else "" for origin in origins(value, LAYOUT)}
    if names == {"softmax"}:
        return _REST if is_rest else _SOFTMAX
    return _SIGMOID if is_rest and names == {"sigmoid"} else ""


_CAN_BE_ZERO = frozenset(
    (
        "relu",
        "relu6",
        "abs",
        "square",
        "pow",
        "sum",
        "mean",
        "var",
        "std",
        "norm",
        "mse_loss",
        "mseloss",
        "l1_loss",
    )
)


class ZeroInLoss(StaticRule, code="S227", cause="LOS-CALC", advisory=True):
    """The loss takes a root or a logarithm of, or divides by, something of the network that can be 0.

    The logarithm of 0 is minus infinity, the root has an infinite gradient there, the quotient is infinite: one such sample turns all
    weights into NaN.

    Add a small number first (`torch.sqrt(x + 1e-8)`), or clamp.
    """

    message = "{} has no finite gradient at 0; add a small number first, for example 1e-8."
    triggers = (".backward(",)

    GOOD = (
        Snippet("small number added", HEAD + "loss = torch.sqrt(F.mse_loss(net(x), y) + 1e-8)\nloss.backward()\n"),
        Snippet("clamped", HEAD + "p = net(x).relu().clamp(min=1e-6)\nloss = -p.log().mean()\nloss.backward()\n"),
        Snippet("attention scaled by its width", HEAD + "z = net(x)\nw = (z @ z.T / z.size(-1) ** 0.5).softmax(-1)\nloss = F.mse_loss(w @ z, y)\nloss.backward()\n"),
        Snippet("divided by a count", HEAD + "loss = F.mse_loss(net(x), y, reduction='sum') / mask.sum()\nloss.backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("root of the mean square", HEAD + "loss = torch.sqrt(F.mse_loss(net(x), y))\nloss.backward()\n", line=6),
        Snippet("logarithm behind a ReLU", HEAD + "loss = -(torch.relu(net(x)).log() * y).mean()\nloss.backward()\n", line=6),
        Snippet("divided by its own norm", HEAD + "z = net(x)\nz = z / z.norm(dim=1, keepdim=True)\nloss = (z - y).pow(2).mean()\nloss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                for part in walk(loss):
                    if id(part) in seen:
                        continue
                    seen.add(id(part))
                    title, inner = _risk(part)
                    if inner is not None and _can_be_zero(inner) and is_computed(inner):
                        yield self.finding(program, part.node, self.message.format(title))


def _risk(value: Value) -> tuple[str, Value | None]:
    if isinstance(value, Operation) and value.operator == "/" and len(value.operands) == 2:
        return "A division", value.operands[1]
    op = operation(value) if isinstance(value, Call) else None
    if (
        op is not None
        and op.inputs
        and op.layer is None
        and op.name in ("log", "sqrt", "log2", "log10", "rsqrt")
    ):
        return f"{op.name}()", op.inputs[0]
    return "", None


def _can_be_zero(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Operation):
        base = operation(resolved(value.operands[0]))
        return value.operator == "**" and (base is None or base.name not in ("size", "numel"))
    op = operation(value)
    return op is not None and op.name in _CAN_BE_ZERO


_NAMES = ("numpy.nan", "numpy.NaN", "numpy.NAN", "torch.nan", "math.nan")
_SIGNS = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


class ComparedWithNan(StaticRule, code="S713", cause="API-USAGE"):
    """A value is compared with NaN.

    NaN is equal to nothing, not even to itself: `loss == float("nan")` is always False, `!=` always True, and `is np.nan` holds only
    for that one object, never for a result. The guard that was meant never acts. A variable may hold that very object as a mark,
    so `length is np.nan` is left alone.

    Use `math.isnan(x)`, `torch.isnan(x).any()` or `not torch.isfinite(loss)`.
    """

    message = (
        "Nothing equals NaN, so this comparison always has the same result; use math.isnan or torch.isnan."
    )
    triggers = (
        'float("nan")',
        "float('nan')",
        "float('NaN')",
        'float("NaN")',
        "np.nan",
        "np.NaN",
        "numpy.nan",
        "torch.nan",
        "th.nan",
        "math.nan",
    )

    GOOD = (
        Snippet("isnan", "import math\nimport torch\n\nif math.isnan(loss) or torch.isnan(x).any():\n    raise ValueError\nbest = float('nan')\n"),
        Snippet("a mark", "import torch\n\ndef pack(length):\n    if length is None:\n        length = torch.nan\n    return [length] if length is not torch.nan else []\n"),
        Snippet("used as a value", "import numpy as np\nimport torch\n\nrows = np.where(mask, rows, np.nan)\nif count == 0:\n    mean = float('nan')\n"),
    )  # fmt: skip
    BAD = (
        Snippet("float", "import torch\n\nif loss.item() == float('nan'):\n    raise ValueError\n", line=3),
        Snippet("torch", "import torch\n\ndef step(loss):\n    assert loss != torch.nan\n", line=4),
        Snippet(
            "identity", "import numpy as np\nimport torch\n\nif loss.item() is np.nan:\n    stop()\n", line=4
        ),
    )

    def check(self, program: Program) -> Findings:
        known = program.aliases
        for node in program.nodes:
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _SIGNS):
                continue
            sides = (node.left, node.comparators[0])
            if not any(_is_nan(side, known) for side in sides):
                continue
            by_object = isinstance(node.ops[0], ast.Is | ast.IsNot)
            if not by_object or any(_is_result(side) and not _is_nan(side, known) for side in sides):
                yield self.finding(program, node)


def _is_result(node: ast.expr) -> bool:
    """Something computed on the spot, which is never the object `nan` of a library."""
    return isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp)


def _is_nan(node: ast.expr, known: dict[str, str]) -> bool:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "float"
        and len(node.args) == 1
    ):
        text = node.args[0]
        return isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value.lower() == "nan"
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{known.get(node.value.id, '')}.{node.attr}" in _NAMES
    return isinstance(node, ast.Name) and known.get(node.id, "") in _NAMES


class ImpreciseNearZero(StaticRule, code="S728", cause="LOS-CALC", advisory=True):
    """`torch.log(1 + x)` or `torch.exp(x) - 1` is computed, which loses all digits of a small `x`.

    Near zero `1 + x` keeps only the first digits of `x` (none below 6e-8 in float32), so the result and its gradient are rounded away.

    Write `torch.log1p(x)` and `torch.expm1(x)`.
    """

    message = "Write torch.log1p(x): 1 + x loses the digits of a small x."
    triggers = ("log(1", "+ 1)", "+1)", "+ 1.0)", "+ 1.)", ") - 1", ")-1")
    needs = "torch"
    patterns = (NOWHERE,)  # nothing is evaluated

    GOOD = (
        Snippet("exact", "import torch\n\ny = torch.log1p(x)\nz = torch.expm1(x)\n"),
        Snippet("numbers of Python", "import math\n\nimport torch\n\ny = math.log(1 + 3)\n"),
    )
    BAD = (
        Snippet("logarithm", "import torch\n\ndef pull(count):\n    return torch.log(1 + count)\n", line=4),
        Snippet("behind", "import torch as th\n\ny = th.log(x.abs() + 1.0)\n", line=3),
        Snippet("exponential", "import torch\n\ngrowth = torch.exp(rate) - 1\n", line=3),
    )

    def check(self, program: Program) -> Findings:
        for node, qualified in program.references:
            call = program.parent(node) if qualified in ("torch.log", "torch.exp") else None
            if not isinstance(call, ast.Call) or call.func is not node or len(call.args) != 1:
                continue
            if qualified == "torch.log":
                inner = call.args[0]
                if (
                    isinstance(inner, ast.BinOp)
                    and isinstance(inner.op, ast.Add)
                    and (_is_one(inner.left) or _is_one(inner.right))
                ):
                    yield self.finding(program, call)
            else:
                above = program.parent(call)
                if (
                    isinstance(above, ast.BinOp)
                    and isinstance(above.op, ast.Sub)
                    and above.left is call
                    and _is_one(above.right)
                ):
                    yield self.finding(
                        program, above, "Write torch.expm1(x): exp(x) - 1 loses the digits of a small x."
                    )


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 1
