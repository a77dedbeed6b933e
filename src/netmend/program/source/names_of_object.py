"""What an object is called at a place: the variables, parameters and attributes that the evaluated program keeps it in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from netmend.library.operations import SAME_OBJECT
from netmend.program.engine.history import STORE, Body
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Either, Item, Value, constant, resolved
from netmend.program.of_run import program_of
from netmend.program.text.file import File
from netmend.program.text.queries import Function, arguments_of, inside, last_name
from netmend.program.text.sources import Code
from netmend.vocabulary import Site

# Methods that return the object itself, or what a loss comes to; calls that return their arguments, wrapped or not.
_SAME = (*SAME_OBJECT, "apply", "mean", "sum")
_WRAPPERS = (
    "compile",
    "DataParallel",
    "DistributedDataParallel",
    "prepare",
    "setup",
    "script",
    "wrap",
    "FSDP",
)

Scope = ast.Module | ast.ClassDef | Function


@dataclass(frozen=True, eq=False)
class Name:
    """A name, the scope that knows it, and the line from which on."""

    file: File
    scope: Scope
    text: str
    line: int


def known_as(code: Code, created: Site | None, file: File, node: ast.AST) -> str | None:
    """What the object made at a site is called where a node stands; None when no name reaches that place."""
    names = names_of(code, created)
    scopes: list[Scope] = [above for above in file.parents(node) if isinstance(above, Scope)]
    for depth, scope in enumerate(scopes):
        # The names of a class are those of its objects: its methods know them through `self`.
        if isinstance(scope, ast.ClassDef) and not (depth and isinstance(scopes[depth - 1], Function)):
            continue
        here = [name for name in names if name.scope is scope]
        before = [name for name in here if name.line <= getattr(node, "lineno", 0) or depth > 0]
        if before:
            return max(before, key=lambda name: name.line if depth == 0 else -name.line).text
    return None


def names_of(code: Code, created: Site | None) -> list[Name]:
    """All names of an object of the program."""
    if created is None:
        return []
    found = code.call_at(replace(created, file=str(code.sources.path(created.file))))
    return [] if found is None else names_from(code, *found)


def names_from(code: Code, file: File, value: ast.expr) -> list[Name]:
    """All names that the value of an expression gets."""
    found: dict[tuple[int, str], Name] = {}
    for program in program_of(code.sources).programs(file.file):
        for name in (*_stored(code, program, value), *_of_modules(code, program, value)):
            found.setdefault((id(name.scope), name.text), name)
    return list(found.values())


def _stored(code: Code, program: Program, value: ast.expr) -> Iterator[Name]:
    """Variables, attributes and parameters that are given the value."""
    for event in program.events:
        if event.kind == STORE and event.target is not None and _is_value(event.value, value):
            file = code.file(program.module_of(event.node).file)
            targets = inside(event.node, ast.Name, ast.Attribute) if file is not None else ()
            stored = (part for part in targets if isinstance(part.ctx, ast.Store))
            for target in stored:
                if file is not None and last_name(target) == event.target.name:
                    yield from _bound(file, target)
    for part in program.parts:
        if isinstance(part, Body) and part.call is not None and isinstance(part.node, Function):
            names = arguments_of(part.node)
            own = names[1:] if part.function.owner is not None else names
            given = dict(zip(own, part.call.args, strict=False)) | part.call.keywords
            file = code.file(part.function.module.file)
            for name in names if file is not None else ():
                if file is not None and name in given and _is_value(given[name], value):
                    yield Name(file, part.node, name, part.node.lineno)


def _of_modules(code: Code, program: Program, value: ast.expr) -> Iterator[Name]:
    """Names of a module that other files import, and fields of objects that nobody assigns to, as those of dataclasses."""
    for module in program.machine.modules.values():
        file = code.file(module.file)
        for text, held in module.scope.names.items() if file is not None else ():
            if file is not None and isinstance(held, Value) and _is_value(held, value):
                yield Name(file, file.tree, text, 0)
    for made in program.machine.made.values():
        for instance in made:
            file = code.file(instance.cls.module.file)
            for attribute, held in instance.attributes.items() if file is not None else ():
                if file is not None and _is_value(held, value):
                    yield Name(file, instance.cls.definition, f"self.{attribute}", 0)


def _is_value(value: Value, made: ast.expr) -> bool:
    """Whether a value may be what an expression makes, wrapped or not."""
    if value.node is made:
        return True
    if isinstance(value, Either):
        return any(_is_value(option, made) for option in value.options)
    if isinstance(value, Item) and isinstance(position := constant(value.key), int):
        return any(_is_value(part, made) for part in _wrapped(resolved(value.base))[position : position + 1])
    if not isinstance(value, Call):
        return False
    if value.result is not None:
        return _is_value(value.result, made)
    if value.method in _SAME and value.receiver is not None:
        return _is_value(value.receiver, made)
    return any(_is_value(part, made) for part in _wrapped(value)[:1])


def _wrapped(value: Value) -> tuple[Value, ...]:
    is_wrapper = isinstance(value, Call) and last_name(value.node and value.node.func) in _WRAPPERS
    return value.args if isinstance(value, Call) and is_wrapper else ()


def _bound(file: File, target: ast.Name | ast.Attribute) -> Iterator[Name]:
    owner, function = file.owner(target), file.function(target)
    if isinstance(target, ast.Name):
        yield Name(file, function or file.tree, target.id, target.lineno)
    elif isinstance(target.value, ast.Name):
        is_own = function is not None and [a.arg for a in function.args.args[:1]] == [target.value.id]
        scope = owner if owner is not None and is_own else function or file.tree
        yield Name(file, scope, file.source(target), target.lineno)
