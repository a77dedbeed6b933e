"""What statements do to the variables and loops around them, from the syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def assigned(body: Sequence[ast.stmt], grown: set[str]) -> set[str]:
    """Variables that statements assign, functions and classes inside left out; `x += …` goes to `grown`."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            found.add(node.id)  # type: ignore[attr-defined]
        elif kind is ast.Assign:
            waiting.extend(node.targets)  # type: ignore[attr-defined]
        elif kind is ast.AugAssign:
            if isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
                grown.add(node.target.id)  # type: ignore[attr-defined]
        elif kind is ast.AnnAssign:
            waiting.append(node.target)  # type: ignore[attr-defined]
        elif kind is ast.Tuple or kind is ast.List:
            waiting.extend(node.elts)  # type: ignore[attr-defined]
        elif kind is ast.Starred:
            waiting.append(node.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.For | ast.AsyncFor):
            waiting.extend([node.target, *node.body, *node.orelse])
        elif isinstance(node, ast.While | ast.If):
            waiting.extend([*node.body, *node.orelse])
        elif isinstance(node, ast.With | ast.AsyncWith):
            waiting.extend(node.body)
            waiting.extend(item.optional_vars for item in node.items if item.optional_vars is not None)
        elif isinstance(node, ast.Try):
            waiting.extend([*node.body, *node.orelse, *node.finalbody])
            for handler in node.handlers:
                waiting.extend(handler.body)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                waiting.extend(case.body)
    return found


def breaks(body: Sequence[ast.stmt]) -> bool:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Return):
            return True
        if not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.expr
        ):
            waiting.extend(ast.iter_child_nodes(node))
    return False
