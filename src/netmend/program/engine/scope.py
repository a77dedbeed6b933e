"""Variables by name, and the file that code belongs to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from netmend.program.engine.values import Name, Unknown, Value

_BUILTINS = frozenset(dir(builtins))


class ModuleFile:
    """One source file: its text, tree and the scope of its top level."""

    __slots__ = ("chains", "lines", "may_yield", "path", "scope", "star_files", "stars", "text", "tree")

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.scope = Scope(None, self)
        self.stars: list[str] = []  # libraries of which everything was imported
        self.star_files: list[str] = []  # the same for files of the project
        self.lines: list[str] | None = None
        self.chains: dict[int, tuple[ast.AST, list[ast.AST] | None]] = {}
        self.may_yield = "yield" in text

    def holds(self, node: ast.AST) -> bool:
        return self.chain(node) is not None

    def parent(self, node: ast.AST) -> ast.AST | None:
        chain = self.chain(node)
        return chain[-1] if chain else None

    def chain(self, node: ast.AST) -> list[ast.AST] | None:
        """The nodes around a node, outermost first; None when it is not of this file.

        Found by going down along the lines: a map of all nodes would cost as much as parsing.
        """
        if node is self.tree:
            return []
        known = self.chains.get(id(node))
        if known is None or known[0] is not node:
            line = getattr(node, "lineno", None)
            found = _descend(self.tree, node, line, getattr(node, "end_lineno", line)) if line else None
            known = self.chains[id(node)] = (node, found)
        return known[1]


def _descend(tree: ast.AST, wanted: ast.AST, first: int, last: int) -> list[ast.AST] | None:
    path: list[tuple[ast.AST, list[ast.AST]]] = [(tree, _around(tree, first, last))]
    while path:
        _, waiting = path[-1]
        if not waiting:
            path.pop()
            continue
        node = waiting.pop()
        if node is wanted:
            return [step for step, _ in path]
        path.append((node, _around(node, first, last)))
    return None


def _around(node: ast.AST, first: int, last: int) -> list[ast.AST]:
    """The children whose lines hold the given ones; nodes without lines may hold anything."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if type(value) is list else (value,):
            if isinstance(child, ast.AST):
                start = getattr(child, "lineno", None)
                if start is None:
                    if child._fields:
                        found.append(child)
                    continue
                decorators = getattr(child, "decorator_list", None)
                if decorators:
                    start = min(start, decorators[0].lineno)
                if start <= first and last <= (child.end_lineno or start):  # type: ignore[attr-defined]
                    found.append(child)
    found.reverse()
    return found


class Scope:
    """Variables of a function or a file; looked up outwards. A value may be a thunk that is called on first use."""

    __slots__ = ("later", "module", "names", "outer", "shared")

    def __init__(self, outer: Scope | None, module: ModuleFile) -> None:
        self.outer = outer
        self.module = module
        self.names: dict[str, Value | Callable[[], Value]] = {}
        self.shared: dict[str, Scope] = {}  # `global` and `nonlocal` names, with the scope they live in
        self.later: Callable[[str], bool] | None = (
            None  # defines a name of an imported file when it is asked for
        )

    def get(self, name: str) -> Value | None:
        scope: Scope | None = self.shared.get(name, self)
        while scope is not None:
            found = scope.names.get(name)
            if found is None and scope.later is not None and scope.later(name):
                found = scope.names.get(name)
            if found is not None:
                if not isinstance(found, Value):
                    scope.names[name] = Unknown()  # a name that needs itself
                    found = found()
                    scope.names[name] = found
                return found
            scope = scope.outer
        return None

    def set(self, name: str, value: Value | Callable[[], Value]) -> None:
        self.shared.get(name, self).names[name] = value

    def lookup(self, name: str, node: ast.AST) -> Value:
        found = self.get(name)
        if found is not None:
            return found
        if name in _BUILTINS:
            return Name(name, node)
        stars = self.module.stars
        if len(stars) == 1:
            return Name(f"{stars[0]}.{name}", node)
        return Unknown(node)
