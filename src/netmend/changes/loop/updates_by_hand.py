"""Weights that the program updates itself: `w -= rate * w.grad`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.text.file import File
from netmend.program.text.queries import inside
from netmend.program.text.sources import Code


@dataclass(frozen=True, eq=False)
class Update:
    """The last statement of a block that uses a weight's gradient to change it."""

    file: File
    statement: ast.stmt
    weight: str


def updates(code: Code, near: File) -> Iterator[Update]:
    """Statements that change something in place by means of its gradient."""
    for file in code.files(near.file):
        last: dict[tuple[int, str], Update] = {}
        for node in inside(file.tree, ast.stmt):
            if not isinstance(node, ast.AugAssign | ast.Assign | ast.Expr):
                continue
            changed = _changed(node)
            for part in inside(node if changed is not None else None, ast.Attribute):
                if part.attr == "grad" and changed is not None:
                    weight = file.source(part.value)
                    if _bare(file, changed) == weight:
                        last[id(file.parent(node)), weight] = Update(file, node, weight)
        yield from last.values()


def _changed(node: ast.stmt) -> ast.expr | None:
    """What a statement changes in place."""
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return node.targets[0] if node.targets[0].attr == "data" else None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        return call.func.value if call.func.attr not in ("zero_",) else None
    return None


def _bare(file: File, node: ast.expr) -> str:
    """`p` of `p.data` and `p`."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return file.source(node)
