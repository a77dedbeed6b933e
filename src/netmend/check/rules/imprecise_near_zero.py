from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.vocabulary.finding import Finding


@register
class ImpreciseNearZero(StaticRule):
    """`torch.log(1 + x)` or `torch.exp(x) - 1` is computed, which loses all digits of a small `x`.

    Near zero `1 + x` keeps only the first digits of `x` (none below 6e-8 in float32), so the result and its gradient are rounded away.

    Write `torch.log1p(x)` and `torch.expm1(x)`.
    """

    code = "S728"
    cause = "LOS-CALC"
    message = "Write torch.log1p(x): 1 + x loses the digits of a small x."
    advisory = True
    triggers = ("log(1", "+ 1)", "+1)", "+ 1.0)", "+ 1.)", ") - 1", ")-1")
    needs = "torch"
    patterns = (r"(?!)",)  # nothing is evaluated

    GOOD = (
        Snippet("exact", "import torch\n\ny = torch.log1p(x)\nz = torch.expm1(x)\n"),
        Snippet("another sum", "import torch\n\ny = torch.log(x + 1e-8)\nz = torch.exp(x) - 2\n"),
        Snippet("numbers of Python", "import math\n\nimport torch\n\ny = math.log(1 + 3)\n"),
    )
    BAD = (
        Snippet("logarithm", "import torch\n\ndef pull(count):\n    return torch.log(1 + count)\n", line=4),
        Snippet("behind", "import torch as th\n\ny = th.log(x.abs() + 1.0)\n", line=3),
        Snippet("exponential", "import torch\n\ngrowth = torch.exp(rate) - 1\n", line=3),
    )

    def check(self, program: Program) -> Iterator[Finding]:
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
