"""What an object is called at a place: followed from the line that makes it through assignments, arguments and returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from netmend.library.operations import SAME_OBJECT
from netmend.program.text.file import File
from netmend.program.text.queries import Function, last_name
from netmend.program.text.sources import Code
from netmend.vocabulary import Site

_MOST_NAMES = 60  # of one object; more means that the trail is lost
# Methods that return the object itself, and calls that return their arguments, wrapped or not.
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
    names: list[Name] = []
    waiting: list[tuple[File, ast.expr]] = [(file, value)]
    seen: set[int] = set()
    while waiting and len(names) < _MOST_NAMES:
        where, node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        for step in _next(code, where, node):
            if isinstance(step, Name):
                if not any(step.scope is old.scope and step.text == old.text for old in names):
                    for own in (step, *_imported(code, step)):
                        names.append(own)
                        waiting.extend(_uses(own))
            else:
                waiting.append(step)
    return names


def _next(code: Code, file: File, node: ast.expr) -> Iterator[Name | tuple[File, ast.expr]]:
    """Where the value of an expression goes from here."""
    parent = file.parent(node)
    if isinstance(parent, ast.Attribute):
        call = file.parent(parent)
        if isinstance(call, ast.Call) and call.func is parent and parent.attr in _SAME:
            yield file, call
    elif isinstance(parent, ast.keyword):
        call = file.parent(parent)
        if isinstance(call, ast.Call):
            yield from _given(code, file, call, parent.arg or "", None)
    elif isinstance(parent, ast.Call) and node is not parent.func:
        position = next((i for i, given in enumerate(parent.args) if given is node), None)
        yield from _given(code, file, parent, "", position)
    elif isinstance(parent, ast.Tuple):
        position = parent.elts.index(node)
        above = file.parent(parent)
        if isinstance(above, ast.Assign) and above.value is parent:
            yield from _element(file, above, position)
        elif isinstance(above, ast.Return):
            yield from _returned(code, file, above, position)
    elif isinstance(parent, ast.IfExp) and node is not parent.test:
        yield file, parent
    elif isinstance(parent, ast.Assign) and parent.value is node:
        for target in parent.targets:
            yield from _bound(file, target)
    elif isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is node:
        yield from _bound(file, parent.target)
    elif isinstance(parent, ast.Return):
        yield from _returned(code, file, parent, None)


def _element(file: File, assignment: ast.Assign, position: int) -> Iterator[Name]:
    for target in assignment.targets:
        if isinstance(target, ast.Tuple | ast.List) and position < len(target.elts):
            yield from _bound(file, target.elts[position])


def _bound(file: File, target: ast.expr) -> Iterator[Name]:
    if isinstance(target, ast.Name):
        yield Name(file, _scope(file, target), target.id, target.lineno)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        owner, function = file.owner(target), file.function(target)
        is_own = function is not None and [a.arg for a in function.args.args[:1]] == [target.value.id]
        scope = owner if owner is not None and is_own else _scope(file, target)
        yield Name(file, scope, file.source(target), target.lineno)


def _given(
    code: Code, file: File, call: ast.Call, keyword: str, position: int | None
) -> Iterator[Name | tuple[File, ast.expr]]:
    """An argument: the parameter of the program's own function or class; a wrapper hands it on."""
    called = last_name(call.func)
    if called in _WRAPPERS:
        parent = file.parent(call)
        if (
            isinstance(parent, ast.Assign)
            and isinstance(parent.targets[0], ast.Tuple)
            and position is not None
        ):
            yield from _element(file, parent, position)
        elif position in (0, None):
            yield file, call
        return
    for other in code.files(file.file):
        for node in ast.walk(other.tree):
            if isinstance(node, ast.ClassDef) and node.name == called:
                made = next((s for s in node.body if isinstance(s, Function) and s.name == "__init__"), None)
                if made is not None:
                    yield from _parameter(other, made, keyword, position, 1)
                else:
                    yield from _field(other, node, keyword, position)
            elif isinstance(node, Function) and node.name == called and called != "__init__":
                bound = isinstance(other.parent(node), ast.ClassDef) and not any(
                    last_name(d) == "staticmethod" for d in node.decorator_list
                )
                yield from _parameter(other, node, keyword, position, int(bound))


def _parameter(
    file: File, function: Function, keyword: str, position: int | None, skip: int
) -> Iterator[Name]:
    places = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    name = keyword if position is None else ""
    if position is not None and position + skip < len(places):
        name = places[position + skip]
    if name in places or any(argument.arg == name for argument in function.args.kwonlyargs):
        yield Name(file, function, name, function.lineno)


def _field(file: File, owner: ast.ClassDef, keyword: str, position: int | None) -> Iterator[Name]:
    """A field of a dataclass."""
    fields = [
        s.target.id for s in owner.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
    ]
    name = keyword if position is None else fields[position] if position < len(fields) else ""
    if name in fields:
        yield Name(file, owner, f"self.{name}", owner.lineno)


def _returned(
    code: Code, file: File, statement: ast.Return, position: int | None
) -> Iterator[Name | tuple[File, ast.expr]]:
    function = file.function(statement)
    if function is None or function.name in ("__init__", "forward", "__call__"):
        return
    for other in code.files(file.file):
        for call in other.calls(function.name):
            parent = other.parent(call)
            if position is None:
                yield other, call
            elif isinstance(parent, ast.Assign):
                yield from _element(other, parent, position)


def _uses(name: Name) -> Iterator[tuple[File, ast.expr]]:
    """Where a name is read in its scope."""
    last = name.text.rpartition(".")[2]
    for node in ast.walk(name.scope):
        if (
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and last_name(node) == last
            and name.file.source(node) == name.text
        ):
            yield name.file, node


def _imported(code: Code, name: Name) -> Iterator[Name]:
    """A name of a module in the files that import it."""
    if not isinstance(name.scope, ast.Module) or "." in name.text:
        return
    for other in code.files(name.file.file):
        for node in ast.walk(other.tree) if other.file != name.file.file else ():
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name == name.text:
                        yield Name(other, other.tree, alias.asname or alias.name, node.lineno)


def _scope(file: File, node: ast.AST) -> Scope:
    return file.function(node) or file.tree
