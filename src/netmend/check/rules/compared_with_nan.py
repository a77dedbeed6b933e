from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.names import aliases
from netmend.program.engine.program import Program
from netmend.vocabulary.finding import Finding

_NAMES = ("numpy.nan", "numpy.NaN", "numpy.NAN", "torch.nan", "math.nan")
_SIGNS = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


@register
class ComparedWithNan(StaticRule):
    """A value is compared with NaN.

    NaN is equal to nothing, not even to itself: `loss == float("nan")` is always False, `!=` always True, and `is np.nan` holds only
    for that one object, never for a result. The guard that was meant never acts. A variable may hold that very object as a mark,
    so `length is np.nan` is left alone.

    Use `math.isnan(x)`, `torch.isnan(x).any()` or `not torch.isfinite(loss)`.
    """

    code = "S713"
    cause = "API-USAGE"
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
        Snippet("compared with itself", "import torch\n\nif loss != loss:\n    raise ValueError\n"),
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

    def check(self, program: Program) -> Iterator[Finding]:
        known = aliases(program.tree)
        for node in ast.walk(program.tree):
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
