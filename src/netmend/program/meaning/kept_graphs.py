"""Values that carry the graph of a forward pass, and where they are kept from round to round."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.history import Event, Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Either,
    Item,
    Operation,
    Unknown,
    Value,
    options,
    resolved,
)
from netmend.program.meaning.loops import call_events
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.operations import LAYOUT, operation
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.program.meaning.training_steps import loss_of

_ARITHMETIC = frozenset(("+", "-", "*", "/", "neg"))
_SMOOTH = LAYOUT | {
    "mean",
    "sum",
    "mul",
    "div",
    "add",
    "sub",
    "stack",
    "cat",
    "tanh",
    "relu",
    "sigmoid",
    "abs",
    "square",
    "pow",
}


def carriers(value: Value | None, depth: int = 12) -> Iterator[Value]:
    """The values that a value takes its graph from, itself first: through arithmetic and smooth operations only."""
    if value is None or depth == 0:
        return
    value = resolved(value)
    yield value
    op = operation(value)
    if isinstance(value, Operation) and value.operator in _ARITHMETIC:
        for operand in value.operands:
            yield from carriers(operand, depth - 1)
    elif isinstance(value, Either):
        for option in value.options:
            yield from carriers(option, depth - 1)
    elif op is not None and op.name in _SMOOTH and op.layer is None:
        for given in op.inputs:
            yield from carriers(given, depth - 1)
    elif isinstance(value, Collection):
        for item in value.items:
            yield from carriers(item, depth - 1)


def is_made_with_graph(program: Program, value: Value) -> bool:
    """Is it the result of a loss or a model, computed with gradients on?"""
    event = call_events(program).get(id(value))
    if event is None or grad_is_off(event):
        return False
    use = loss_use(event)
    if use is not None:
        return any(role(callee) == MODEL for callee in _called(use.prediction))
    return False


def is_output_with_graph(program: Program, value: Value) -> bool:
    """Is it what a model gives, computed with gradients on?"""
    event = call_events(program).get(id(value))
    if event is None or grad_is_off(event):
        return False
    return event.call.result is None and not event.call.method and role(event.call.function) == MODEL


def _called(value: Value | None, depth: int = 20) -> Iterator[Value]:
    """The objects called on the way to a prediction, as long as no detaching lies between."""
    if value is None or depth == 0:
        return
    if isinstance(value, Call):
        yield from options(resolved(value.function))
        if value.result is not None:
            yield from _called(value.result, depth - 1)
            return
        if value.method in ("detach", "item", "numpy", "tolist", "argmax", "long", "int"):
            return
        if value.receiver is not None:
            yield from _called(value.receiver, depth - 1)
        for argument in value.args:
            yield from _called(argument, depth - 1)
    elif isinstance(value, Attribute | Item):
        if not (isinstance(value, Attribute) and value.name in ("data", "shape")):
            yield from _called(value.base, depth - 1)
    elif isinstance(value, Operation):
        for operand in value.operands:
            yield from _called(operand, depth - 1)
    elif isinstance(value, Either):
        for option in value.options:
            yield from _called(option, depth - 1)


def is_carried(old: Value | None, loop: Loop) -> bool:
    """Does a variable come, in all rounds but the first, from the round before?"""
    if old is None:
        return False
    return any(isinstance(option, Unknown) and option.node is loop.node for option in options(old))


def feeds_backward(program: Program, value: Value) -> bool:
    """Is a value a part of something that is differentiated, anywhere in the program?"""
    from netmend.program.meaning.operations import depends_on

    for event in backward_calls(program):
        call = event.call
        roots = (loss_of(event), *call.args)
        if any(depends_on(root, value) for root in roots):
            return True
    return False


def differentiated_in(loop: Loop, events: tuple[Event, ...]) -> list[Value]:
    """The losses that are differentiated in a loop, each round anew."""
    found = [loss_of(event) for event in events if loop in event.loops()]
    return [resolved(value) for value in found if value is not None]
