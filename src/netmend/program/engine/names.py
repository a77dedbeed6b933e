"""Qualified names of what a file refers to, from its imports alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.program.engine.expressions import canonical


def aliases(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What imported names stand for, wherever in the file they are imported; relative imports are left out."""
    found: dict[str, str] = {}
    for node in nodes:
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


def references(nodes: Iterable[ast.AST], known: dict[str, str]) -> Iterator[tuple[ast.AST, str]]:
    """Every whole dotted name that starts at an import: `(node of F.relu, "torch.nn.functional.relu")`; outer nodes come first."""
    parts: set[int] = set()  # of a longer name
    for node in nodes:
        if not isinstance(node, ast.Attribute | ast.Name):
            continue
        first, _, rest = ("" if id(node) in parts else _dotted(node)).partition(".")
        if first in known:
            yield node, canonical(f"{known[first]}.{rest}" if rest else known[first])
        if isinstance(node, ast.Attribute) and (first in known or id(node) in parts):
            parts.add(id(node.value))


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
