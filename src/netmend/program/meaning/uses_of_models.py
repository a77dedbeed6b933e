"""Which models a value was computed by, and where objects go that a rule must keep in sight."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Class, Collection, Either, Instance, Value, options, resolved
from netmend.program.meaning.models import parts
from netmend.program.meaning.operations import walk
from netmend.program.meaning.remember import once
from netmend.program.meaning.roles import bare, same


def is_computed_by(value: Value | None, model: Value) -> bool:
    """Was a model, or a layer of it, called on the way to a value?"""
    model = bare(model)
    inside = members(model)
    return any(
        called is not None and (id(bare(called)) in inside or same(bare(called), model))
        for called in callees(value)
    )


def members(model: Value) -> set[int]:
    """The `id`s of a model and of everything that it holds."""
    return {id(part) for part in parts(model)}


def callees(value: Value | None) -> Iterator[Value | None]:
    """The objects that were called on the way to a value."""
    for part in walk(value):
        if isinstance(part, Call):
            yield from options(resolved(part.function))


def holds(value: Value | None, wanted: Value, depth: int = 4) -> bool:
    """Is a value the wanted object, or a list, tuple or dict with it?"""
    if value is None or depth == 0:
        return False
    value = resolved(value)
    if value is wanted or bare(value) is wanted:
        return True
    if isinstance(value, Collection):
        return any(holds(item, wanted, depth - 1) for item in value.items)
    if isinstance(value, Either):
        return any(holds(option, wanted, depth - 1) for option in value.options)
    return False


def escapes(program: Program, wanted: Value, known: tuple[str, ...] = ()) -> bool:
    """May code that is not seen get hold of an object? `known` are prefixes of library names that do it no harm."""
    for event in program.calls:
        call = event.call
        if call.result is not None:
            continue
        callee = resolved(call.function)
        if isinstance(callee, Class) and callee.method("__init__") is not None:
            continue
        if call.qualified == "super" or (known and call.qualified.startswith(known)):
            continue
        if any(holds(given, wanted) for given in call.given):
            return True
    return any(holds(entry.result, wanted) for entry in program.entries) or any(
        event.kind in ("store", "yield")
        and holds(event.value, wanted)
        and (
            event.kind == "yield" or _is_stored_away(event.target.base if event.target is not None else None)
        )
        for event in program.events
    )


def _is_stored_away(base: Value | None) -> bool:
    return base is not None and not isinstance(resolved(base), Instance | Collection)


@once
def unseen_calls(program: Program) -> frozenset[str]:
    """Methods that are called in the text at places which were never evaluated: in functions that nobody calls."""
    seen = {id(event.node) for event in program.calls}
    return frozenset(
        node.func.attr
        for node in program.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and id(node) not in seen
    )
