"""The way of data from layer to layer: which operation feeds which, and who else uses a value."""

from __future__ import annotations

import ast
from functools import cached_property

from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import RETURN, YIELD, Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Param, Value, resolved
from netmend.program.meaning.modules import DROPOUTS
from netmend.program.meaning.operations import Op, operation, parts_of
from netmend.program.meaning.remember import once

UNCHANGED = DROPOUTS | {
    "identity",
    "contiguous",
    "clone",
    "to",
    "cuda",
    "cpu",
    "float",
    "half",
    "type",
    "type_as",
}


class Paths:
    """Operations of a program in order, and the users of every value by its identity."""

    def __init__(self, ops: tuple[Op, ...], happened: dict[int, Event], history: tuple[Event, ...]) -> None:
        self.ops = ops
        self.events = happened  # of operations that happen (not of containers that are only made)
        self._history = history

    @cached_property
    def users(self) -> dict[int, list[Value | Event]]:
        """Worked out when first asked for: few programs need it."""
        return _users(self._history, self.ops)

    def only_user(self, value: Value) -> Value | None:
        """The one value that is computed from a value; None when it has several users, none, or leaves the function."""
        found = self.users.get(id(resolved(value)), [])
        if len(found) == 1 and isinstance(found[0], Value):
            return found[0]
        return None

    def leads_only_to(self, first: Op, second: Op) -> bool:
        """Is the result of one operation used by nothing but the other, operations between them aside?"""
        value: Value | None = first.value
        for _ in range(20):
            value = self.only_user(value) if value is not None else None
            if value is second.value:
                return True
            if value is None:
                return False
        return False


@once
def paths(program: Program) -> Paths:
    """Every operation: those that happen, and those of `Sequential`s that are made and never called here."""
    found: list[Op] = []
    events: dict[int, Event] = {}
    made: list[Call] = []
    called: set[int] = set()
    for event in program.calls:
        call = event.call
        called.add(id(resolved(call.function)))
        if call.qualified == "torch.nn.Sequential":
            made.append(call)
        elif call.result is None and (op := operation(call)) is not None and _is_torch(op):
            found.append(op)
            events[id(call)] = event
    for container in made:
        if id(container) not in called:
            _unroll(container, Param("input", "", None, container.node), found, 0)
    return Paths(tuple(found), events, program.events)


def _is_torch(op: Op) -> bool:
    return op.layer is None or op.layer.qualified.startswith("torch.")


def _unroll(container: Call, value: Value, found: list[Op], depth: int) -> Value:
    """The operations that calling a container would do."""
    layers = container_layers(None, container)
    if layers is None or depth > 6:
        return Call(container, (value,), {}, container.node)
    for layer in layers:
        inner = resolved(layer)
        if isinstance(inner, Call) and inner.qualified == "torch.nn.Sequential":
            value = _unroll(inner, value, found, depth + 1)
            continue
        node = inner.node if isinstance(inner.node, ast.Call) else None
        value = Call(layer, (value,), {}, node)
        op = operation(value)
        if op is not None:
            found.append(op)
    return value


def _users(history: tuple[Event, ...], ops: tuple[Op, ...]) -> dict[int, list[Value | Event]]:
    users: dict[int, list[Value | Event]] = {}
    seen: set[int] = set()
    waiting: list[Value] = [op.value for op in ops]
    for event in history:
        waiting.append(event.value)
        target = event.target
        is_kept = target is not None and target.base is not None
        if is_kept or event.kind == YIELD or (event.kind == RETURN and _leaves(event)):
            users.setdefault(id(resolved(event.value)), []).append(event)
    while waiting:
        value = resolved(waiting.pop())
        if id(value) in seen:
            continue
        seen.add(id(value))
        for part in parts_of(value):
            users.setdefault(id(resolved(part)), []).append(value)
            waiting.append(part)
    return users


def _leaves(event: Event) -> bool:
    """Does a return leave the function that was looked at without a known caller?"""
    return sum(isinstance(part, Body) for part in event.around()) == 1


def previous(op: Op, through: frozenset[str] = UNCHANGED) -> Op | None:
    """The operation that feeds another, seen through those that change nothing of interest; None where it cannot be told."""
    value = op.input
    for _ in range(60):
        before = operation(resolved(value))
        if before is None or before.name not in through:
            return before
        value = before.input
    return None
