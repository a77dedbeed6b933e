"""Imports, functions and classes: what names of a file stand for. Other project files are looked into only when needed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from netmend.program.engine.machine import Machine, OutOfEffort
from netmend.program.engine.scope import ModuleFile, Scope
from netmend.program.engine.values import Class, Function, Name, Unknown, Value

_MOST_FILES = 40  # project files that one checked file may pull in
# star imports of project files that are looked into; more of them stand in lists of a whole package
_MOST_STARS = 3
_EFFORT_OF_CLASS = 5000  # expressions
_BUILTINS = frozenset(dir(builtins))


def import_module(machine: Machine, node: ast.Import, scope: Scope) -> None:
    from netmend.program.engine.expressions import canonical

    for alias in node.names:
        whole = alias.name if alias.asname else alias.name.partition(".")[0]
        path = machine.project.find(whole, 0, scope.module.file)
        library = Name(canonical(whole + ".")[:-1], node)
        scope.set(alias.asname or whole, library if path is None else FileValue(path, node))


def import_from(machine: Machine, node: ast.ImportFrom, scope: Scope, only: str = "") -> None:
    from netmend.program.engine.expressions import canonical

    module = node.module or ""
    path = machine.project.find(module, node.level, scope.module.file) if module or node.level else None
    for alias in node.names:
        if alias.name == "*":
            if only not in ("", "*"):
                continue
            if path is None:
                scope.module.stars.append(canonical(module + ".")[:-1])
            else:
                _star(machine, path, scope.module)
            continue
        name = alias.asname or alias.name
        if only and name != only:
            continue
        if path is not None:
            scope.set(name, _member_later(machine, path, module, alias.name, node, scope.module.file))
        elif node.level:
            scope.set(name, Unknown(node))
        else:
            scope.set(name, Name(canonical(f"{module}.{alias.name}"), node))


class FileValue(Value):
    """A project file as a value: `import models` and then `models.Net`."""

    __slots__ = ("path",)

    def __init__(self, path: str, node: ast.AST) -> None:
        self.node = node
        self.path = path


def member_of_file(machine: Machine, file: FileValue, name: str, node: ast.AST) -> Value:
    return _member(machine, file.path, name, node, lambda: machine.project.find(name, 1, file.path))


def _member(
    machine: Machine, path: str, name: str, node: ast.AST, file_of_name: Callable[[], str | None]
) -> Value:
    """What a name of a project file stands for: what it defines, or a file beside it."""
    module = load(machine, path)
    found = module.scope.get(name) if module is not None else None
    if found is not None:
        return found
    inner = file_of_name()
    return FileValue(inner, node) if inner is not None else Unknown(node)


def _member_later(
    machine: Machine, path: str, module: str, name: str, node: ast.ImportFrom, importer: str
) -> Callable[[], Value]:
    whole = f"{module}.{name}" if module else name
    return lambda: _member(
        machine, path, name, node, lambda: machine.project.find(whole, node.level, importer)
    )


def _star(machine: Machine, path: str, module: ModuleFile) -> None:
    """`from file import *`: the file is looked into when a name is asked for that nothing else defines."""
    module.star_files.append(path)
    if module.scope.later is None:
        module.scope.later = lambda name: _from_stars(machine, module, name)


def _from_stars(machine: Machine, module: ModuleFile, name: str) -> bool:
    if len(module.star_files) > _MOST_STARS or name.startswith("_") or name in _BUILTINS:
        return False
    for path in reversed(module.star_files):
        loaded = load(machine, path)
        found = loaded.scope.get(name) if loaded is not None and loaded is not module else None
        if found is not None:
            module.scope.names[name] = found
            return True
    return False


def load(machine: Machine, path: str) -> ModuleFile | None:
    """A project file with its definitions; nothing in it happens."""
    known = machine.modules.get(path)
    if known is not None:
        return known
    if len(machine.modules) >= _MOST_FILES:
        return None
    parsed = machine.project.parse(path)
    if parsed is None:
        return None
    module = ModuleFile(path, parsed[1], parsed[0])
    machine.modules[path] = module
    define_later(machine, module)
    return module


def define_later(machine: Machine, module: ModuleFile) -> None:
    """Names of the file's top level are defined when they are asked for."""
    index = machine.project.index(module.file, module.tree)
    module.scope.later = lambda name: _define(machine, index, name, module.scope)
    for node in index.get("*", ()):
        if isinstance(node, ast.ImportFrom):
            import_from(machine, node, module.scope, only="*")


def _define(machine: Machine, index: dict[str, list[ast.stmt]], name: str, scope: Scope) -> bool:
    """A top-level name of an imported file, defined when it is asked for; its value is evaluated on first use."""
    from netmend.program.engine.expressions import evaluate

    nodes = index.get(name)
    if name in scope.names:
        return False
    if not nodes:
        return bool(scope.module.star_files) and _from_stars(machine, scope.module, name)
    node = nodes[-1]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        define_function(machine, node, scope)
    elif isinstance(node, ast.ClassDef):
        scope.set(node.name, _later(machine, make_class, node, scope))
    elif isinstance(node, ast.Import):
        import_module(machine, node, scope)
    elif isinstance(node, ast.ImportFrom):
        import_from(machine, node, scope, only=name)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        scope.set(name, _later(machine, evaluate, node.value, scope))
    return name in scope.names


def _later(
    machine: Machine, work: Callable[[Machine, Any, Scope], Value], node: ast.AST, scope: Scope
) -> Callable[[], Value]:
    def thunk() -> Value:
        with machine.silently():
            return work(machine, node, scope)

    return thunk


def define_function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
    scope.set(node.name, Function(node, scope, scope.module))


def define_class(machine: Machine, node: ast.ClassDef, scope: Scope) -> None:
    scope.set(node.name, make_class(machine, node, scope))


def make_class(machine: Machine, node: ast.ClassDef, scope: Scope) -> Class:
    known = machine.classes.get(id(node))
    if known is not None:
        return known
    methods: dict[str, Function] = {}
    cls = Class(node, scope.module, methods, lambda: _inside_of_class(machine, node, scope))
    machine.classes[id(node)] = cls
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            methods.setdefault(part.name, Function(part, scope, scope.module, None, cls))
    return cls


def _inside_of_class(
    machine: Machine, node: ast.ClassDef, scope: Scope
) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """Bases and class attributes."""
    from netmend.program.engine.expressions import evaluate

    machine.silent += 1
    # Asked for at any time, also when the entry has come to its end: class bodies have an effort of their own.
    spent, machine.effort = machine.effort, _EFFORT_OF_CLASS
    bases: tuple[Value, ...] = ()
    attributes: dict[str, Value] = {}
    try:
        bases = tuple(evaluate(machine, base, scope) for base in node.bases)
        inner = machine.new_scope(scope, scope.module)
        for part in node.body:
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None:
                value = evaluate(machine, part.value, inner)
                for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                    if isinstance(target, ast.Name):
                        attributes[target.id] = value
                        inner.set(target.id, value)
            elif isinstance(part, ast.ClassDef):
                attributes[part.name] = make_class(machine, part, inner)
                inner.set(part.name, attributes[part.name])
    except OutOfEffort:
        pass
    finally:
        machine.silent -= 1
        machine.effort = spent
    return bases, attributes
