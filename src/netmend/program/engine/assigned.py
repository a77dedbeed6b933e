"""What statements do to the variables and loops around them, from the syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence

# Where the variables stand that a statement assigns, and the statements in it; functions and classes are scopes of their own.
_PARTS: dict[type, tuple[str, ...]] = {
    ast.Assign: ("targets",),
    ast.AnnAssign: ("target",),
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.Starred: ("value",),
    **dict.fromkeys((ast.For, ast.AsyncFor), ("target", "body", "orelse")),
    **dict.fromkeys((ast.While, ast.If), ("body", "orelse")),
    **dict.fromkeys((ast.With, ast.AsyncWith), ("items", "body")),
    ast.withitem: ("optional_vars",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.Match: ("cases",),
    **dict.fromkeys((ast.ExceptHandler, ast.match_case), ("body",)),
}


def assigned(body: Sequence[ast.stmt], grown: set[str]) -> set[str]:
    """Variables that statements assign, functions and classes inside left out; `x += …` goes to `grown`."""
    found: set[str] = set()
    waiting: list[ast.AST | None] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            grown.add(node.target.id)
        for name in _PARTS.get(type(node), ()):
            part = getattr(node, name)
            waiting.extend(part if isinstance(part, list) else [part])
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
