"""The way of data from layer to layer: which operation feeds which, who else uses a value, and linear maps with nothing between them that bends."""

from __future__ import annotations

import ast
from functools import cached_property

from netmend.program.engine.containers import container_layers
from netmend.program.engine.history import RETURN, YIELD, Body, Event
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Element, Param, Value, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.modules import DROPOUTS
from netmend.program.meaning.operations import (
    ACTIVATIONS,
    Op,
    behind,
    input_through,
    layer_name,
    operation,
    parts_of,
    walk,
)
from netmend.program.meaning.sizes import axes_of, numbers, setting, width
from netmend.program.meaning.training import backward_calls

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
    return operation(behind(op.input, lambda value: input_through(value, through)))


_BENDING = ACTIVATIONS | {
    "maxpool1d",
    "maxpool2d",
    "max_pool2d",
    "max_pool1d",
    "adaptivemaxpool2d",
    "abs",
    "pow",
    "exp",
}


def bends(known: Paths, first: Op, second: Op) -> bool:
    """Does something non-linear stand elsewhere on the same way, so that the network is meant to bend?"""
    before = first
    for _ in range(40):
        found = operation(resolved(before.input))
        if found is None:
            break
        if found.name in _BENDING:
            return True
        before = found
    value: Value | None = second.value
    for _ in range(40):
        value = known.only_user(value) if value is not None else None
        after = operation(value)
        if after is None:
            return False
        if after.name in _BENDING:
            return True
    return False


def is_trained(program: Program, op: Op) -> bool:
    """Does the layer's result reach a loss?"""
    return id(op.value) in _in_losses(program)


@once
def _in_losses(program: Program) -> set[int]:
    found: set[int] = set()
    for use in losses(program):
        found.update(id(resolved(part)) for part in walk(use.prediction))
    for event in backward_calls(program):
        found.update(id(resolved(part)) for part in walk(event.call.receiver))
    return found


def is_grown_stack(program: Program, container: Call) -> bool:
    """`nn.Sequential(*layers)` of a list to which a loop appends linear layers and nothing else."""
    given = container.args[0] if len(container.args) == 1 else None
    listed = resolved(given.iterable) if isinstance(given, Element) else None
    if not isinstance(listed, Collection) or listed.repeated or listed.kind != "list" or not listed.items:
        return False
    if not isinstance(listed.node, ast.List) or not all(
        layer_name(item) == "linear" for item in listed.items
    ):
        return False
    holder = next(
        (above for above in program.above(listed.node) if isinstance(above, ast.FunctionDef | ast.Module)),
        None,
    )
    if holder is None or any(isinstance(node, ast.AugAssign) for node in ast.walk(holder)):
        return False
    used = [event for event in program.calls if _is_of(event.call, listed)]
    return any(event.loops() for event in used) and all(event.call.method == "append" for event in used)


def _is_of(call: Call, listed: Collection) -> bool:
    """A method of the list, or a call that gets the list itself."""
    receiver = resolved(call.receiver)
    return receiver is listed or any(resolved(value) is listed for value in call.args)


def is_plain(op: Op) -> bool:
    """A linear layer, or a convolution with a real window over all channels."""
    if op.layer is None or op.layer.open:
        return False
    if op.name == "linear":
        return True
    axes = axes_of(op.name)
    if axes is None or not op.name.startswith("conv") or "transpose" in op.name:
        return False
    if setting(op.option("groups", 6), 1) != 1:
        return False
    kernel = numbers(op.option("kernel_size", 2), axes)
    return all(size is not None and size > 1 for size in kernel)


def is_one_map(first: Op, second: Op) -> bool:
    """Is the middle at least as wide as one of the ends, so that one layer could do the same?"""
    names = ("in_features", "out_features") if first.name == "linear" else ("in_channels", "out_channels")
    start, middle = width(first, names[0], 0), width(first, names[1], 1)
    taken, end = width(second, names[0], 0), width(second, names[1], 1)
    if start is None or middle is None or end is None or middle != taken:
        return False
    if first.name != "linear":
        return middle >= min(start, end) and middle * 4 >= start  # from many channels to few, in two windows
    is_bare = all(setting(op.option("bias", 2), True) is False for op in (first, second))
    return middle >= min(start, end) and not is_bare  # without any bias it is a factorisation
