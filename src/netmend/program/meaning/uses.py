"""Where a value is used: calls that are given it, and arithmetic that happens anywhere."""

from __future__ import annotations

from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.joined import WRAPPERS
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Element, Operation, Value, resolved
from netmend.program.meaning.operations import Op, operation, parts_of


@once
def _given(program: Program) -> dict[int, list[CallEvent]]:
    found: dict[int, list[CallEvent]] = {}
    for event in program.calls:
        call = event.call
        for argument in call.given:
            for value in _inside(argument):
                found.setdefault(id(value), []).append(event)
    return found


def _inside(argument: Value) -> list[Value]:
    """An argument and, for a written list or a star, what it holds."""
    value = resolved(argument)
    if isinstance(value, Call) and value.qualified in WRAPPERS and value.args:
        return [value, *_inside(value.args[0])]
    if isinstance(value, Element):
        return [value, *_inside(value.iterable)]
    if isinstance(value, Collection) and len(value.items) <= 20:
        return [value, *(resolved(item) for item in value.items)]
    return [value]


def calls_given(program: Program, value: Value) -> list[CallEvent]:
    """Calls that a value is handed to as an argument, in order."""
    return _given(program).get(id(resolved(value)), [])


def contents(program: Program, collection: Collection) -> list[Value]:
    """What a list holds, with what whole lists were added to it."""
    added = []
    for event in program.methods_of("extend"):
        call = event.call
        if call.args and call.receiver is not None and resolved(call.receiver) is collection:
            inner = resolved(call.args[0])
            if not isinstance(inner, Collection):
                added.append(inner)
    return [*collection.items, *added]


def operations(program: Program, *names: str) -> list[tuple[Op, CallEvent]]:
    """The tensor operations of some names, each with its event."""
    return [found for name in names for found in _by_name(program).get(name, ())]


@once
def _by_name(program: Program) -> dict[str, list[tuple[Op, CallEvent]]]:
    found: dict[str, list[tuple[Op, CallEvent]]] = {}
    for event in program.calls:
        op = operation(event.value)
        if op is not None:
            found.setdefault(op.name, []).append((op, event))
    return found


@once
def arithmetic(program: Program) -> tuple[tuple[Operation, Event], ...]:
    """Every operation that takes part in an event, each once, with the first event that uses it."""
    found: list[tuple[Operation, Event]] = []
    seen: set[int] = set()
    for event in program.events:
        waiting = [event.value]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Operation):
                found.append((value, event))
            waiting.extend(parts_of(value))
    return tuple(found)
