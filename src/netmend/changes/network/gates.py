"""Values that weigh other values: gates and attention, where a squashing function is right."""

from __future__ import annotations

import ast

from netmend.program.text.file import File
from netmend.program.text.queries import holds, inside, last_name

_MIXING = (
    "matmul",
    "bmm",
    "mm",
    "einsum",
    "mul",
    "multiply",
    "lerp",
    "where",
    "multinomial",
    "lerp_",
    "mul_",
)


def is_gate(file: File, call: ast.expr) -> bool:
    """Whether a value weighs another one: `torch.sigmoid(g) * x`, `softmax(scores) @ v`."""
    for above in file.parents(call):
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult | ast.MatMult):
            other = above.right if holds(above.left, call) else above.left
            if not isinstance(other, ast.Constant):
                return True
        if isinstance(above, ast.Call) and last_name(above.func) in _MIXING:
            return True
        if isinstance(above, ast.AugAssign):
            return isinstance(above.op, ast.Mult | ast.MatMult)
        if isinstance(above, ast.Assign):
            names = {target.id for target in above.targets if isinstance(target, ast.Name)}
            return any(_weighs(file, name, above) for name in names)
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.Call) and not _is_plain(above):
            return False  # handed to a layer: what becomes of that is another matter
    return False


def _is_plain(call: ast.Call) -> bool:
    """`x.unsqueeze(1)`, `F.dropout(x)`: the value goes through."""
    return last_name(call.func) in (
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "expand",
        "dropout",
        "transpose",
    )


def _weighs(file: File, name: str, made: ast.stmt) -> bool:
    """Whether a name is a factor in the statements up to where it gets another value."""
    scope: ast.AST = file.function(made) or file.tree
    again = [
        node.lineno
        for node in inside(scope, ast.Assign)
        if node.lineno > made.lineno
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    last = min(again, default=1 << 30)
    for node in inside(scope, ast.expr):
        if not made.lineno < node.lineno <= last:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.MatMult):
            sides = (node.left, node.right)
            if any(_is_name(side, name) for side in sides) and not any(
                isinstance(side, ast.Constant) for side in sides
            ):
                return True
        if isinstance(node, ast.Call) and last_name(node.func) in _MIXING:
            given = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            if any(_is_name(value, name) for value in given):
                return True
    return False


def _is_name(node: ast.expr, name: str) -> bool:
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
        node = node.value if isinstance(node, ast.Attribute) else node
    return isinstance(node, ast.Name) and node.id == name
