"""Variables by name, and the file that code belongs to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from netmend.program.engine.values import Name, Unknown, Value
from netmend.program.text.file import File

_BUILTINS = frozenset(dir(builtins))


class ModuleFile(File):
    """One source file with the scope of its top level."""

    __slots__ = ("may_yield", "scope", "star_files", "stars")

    def __init__(self, file: str, text: str, tree: ast.Module) -> None:
        super().__init__(file, text, tree)
        self.scope = Scope(None, self)
        self.stars: list[str] = []  # libraries of which everything was imported
        self.star_files: list[str] = []  # the same for files of the project
        self.may_yield = "yield" in text


class Scope:
    """Variables of a function or a file; looked up outwards. A value may be a thunk that is called on first use."""

    __slots__ = ("later", "module", "names", "outer", "shared")

    def __init__(self, outer: Scope | None, module: ModuleFile) -> None:
        self.outer = outer
        self.module = module
        self.names: dict[str, Value | Callable[[], Value]] = {}
        self.shared: dict[str, Scope] = {}  # `global` and `nonlocal` names, with the scope they live in
        # defines a name of an imported file when it is asked for
        self.later: Callable[[str], bool] | None = None

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
