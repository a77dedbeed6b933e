"""Qualified names of what a file refers to, from its imports alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.expressions import canonical


def aliases(tree: ast.Module) -> dict[str, str]:
    """What imported names stand for, wherever in the file they are imported; relative imports are left out."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
                else:
                    first = alias.name.partition(".")[0]
                    found[first] = first
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                if alias.name != "*":
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def references(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every whole dotted name that starts at an import: `(node of F.relu, "torch.nn.functional.relu")`."""
    known = aliases(tree)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute | ast.Name):
            name = _dotted(node)
            first, _, rest = name.partition(".")
            if first in known:
                yield node, canonical(f"{known[first]}.{rest}" if rest else known[first])
                continue
        waiting.extend(ast.iter_child_nodes(node))


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
