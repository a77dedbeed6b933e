"""Imports, functions and classes: what names of a file stand for. Other project files are looked into only when needed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from netmend.lint.engine.machine import Machine
from netmend.lint.engine.scope import ModuleFile, Scope
from netmend.lint.engine.values import Class, Function, Name, Unknown, Value

_MOST_FILES = 40  # project files that one checked file may pull in


def import_module(machine: Machine, node: ast.Import, scope: Scope) -> None:
    from netmend.lint.engine.expressions import canonical

    for alias in node.names:
        if alias.asname:
            path = machine.project.find(alias.name, 0, scope.module.path)
            scope.set(
                alias.asname,
                _library(canonical(alias.name + ".")[:-1], node)
                if path is None
                else _file(machine, path, node),
            )
        else:
            first = alias.name.partition(".")[0]
            path = machine.project.find(first, 0, scope.module.path)
            scope.set(
                first,
                _library(canonical(first + ".")[:-1], node) if path is None else _file(machine, path, node),
            )


def import_from(machine: Machine, node: ast.ImportFrom, scope: Scope, only: str = "") -> None:
    from netmend.lint.engine.expressions import canonical

    module = node.module or ""
    path = machine.project.find(module, node.level, scope.module.path) if module or node.level else None
    for alias in node.names:
        if alias.name == "*":
            if path is None:
                scope.module.stars.append(canonical(module + ".")[:-1])
            else:
                _all_names(machine, path, scope)
            continue
        name = alias.asname or alias.name
        if only and name != only:
            continue
        if path is not None:
            scope.set(name, _member(machine, path, module, alias.name, node, scope.module.path))
        elif node.level:
            scope.set(name, Unknown(node))
        else:
            scope.set(name, Name(canonical(f"{module}.{alias.name}"), node))


def _library(name: str, node: ast.AST) -> Name:
    return Name(name, node)


class FileValue(Value):
    """A project file as a value: `import models` and then `models.Net`."""

    __slots__ = ("path",)

    def __init__(self, path: str, node: ast.AST) -> None:
        self.node = node
        self.path = path


def _file(machine: Machine, path: str, node: ast.AST) -> Value:
    return FileValue(path, node)


def member_of_file(machine: Machine, file: FileValue, name: str, node: ast.AST) -> Value:
    module = load(machine, file.path)
    found = module.scope.get(name) if module is not None else None
    if found is None:
        inner = machine.project.find(name, 1, file.path)
        return FileValue(inner, node) if inner is not None else Unknown(node)
    return found


def _member(
    machine: Machine, path: str, module: str, name: str, node: ast.ImportFrom, importer: str
) -> Callable[[], Value]:
    def thunk() -> Value:
        loaded = load(machine, path)
        found = loaded.scope.get(name) if loaded is not None else None
        if found is not None:
            return found
        inner = machine.project.find(f"{module}.{name}" if module else name, node.level, importer)
        return FileValue(inner, node) if inner is not None else Unknown(node)

    return thunk


def _all_names(machine: Machine, path: str, scope: Scope) -> None:
    module = load(machine, path)
    if module is not None:
        for name in (*machine.project.index(path, module.tree), *module.scope.names):
            if not name.startswith("_") and name != "*":
                scope.set(name, _later(module, name))


def _later(module: ModuleFile, name: str) -> Callable[[], Value]:
    return lambda: module.scope.get(name) or Unknown()


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
    index = machine.project.index(path, module.tree)
    module.scope.later = lambda name: _define(machine, index, name, module.scope)
    for node in index.get("*", ()):
        if isinstance(node, ast.ImportFrom):
            import_from(machine, node, module.scope)
    return module


def _define(machine: Machine, index: dict[str, list[ast.stmt]], name: str, scope: Scope) -> bool:
    """A top-level name of an imported file, defined when it is asked for; its value is evaluated on first use."""
    from netmend.lint.engine.expressions import evaluate

    nodes = index.get(name)
    if not nodes or name in scope.names:
        return False
    node = nodes[-1]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        define_function(machine, node, scope)
    elif isinstance(node, ast.ClassDef):
        scope.set(node.name, _class_later(machine, node, scope))
    elif isinstance(node, ast.Import):
        import_module(machine, node, scope)
    elif isinstance(node, ast.ImportFrom):
        import_from(machine, node, scope, only=name)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        scope.set(name, _value_later(machine, node.value, scope, evaluate))
    return name in scope.names


def _value_later(
    machine: Machine, node: ast.expr, scope: Scope, evaluate: Callable[[Machine, ast.AST, Scope], Value]
) -> Callable[[], Value]:
    def thunk() -> Value:
        machine.silent += 1
        try:
            return evaluate(machine, node, scope)
        finally:
            machine.silent -= 1

    return thunk


def _class_later(machine: Machine, node: ast.ClassDef, scope: Scope) -> Callable[[], Value]:
    def thunk() -> Value:
        machine.silent += 1
        try:
            return make_class(machine, node, scope)
        finally:
            machine.silent -= 1

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
    from netmend.lint.engine.expressions import evaluate

    machine.silent += 1
    try:
        bases = tuple(evaluate(machine, base, scope) for base in node.bases)
        inner = machine.new_scope(scope, scope.module)
        attributes: dict[str, Value] = {}
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
    finally:
        machine.silent -= 1
    return bases, attributes
