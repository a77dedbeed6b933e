"""Values that carry the graph of a forward pass from round to round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.operations import ARITHMETIC, CHECKS, COMPARISONS, COUNTS, DRAWS, LIKE, SUMMARIES
from netmend.program.engine.history import STORE, Event, Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Either,
    Instance,
    Item,
    Operation,
    Unknown,
    Value,
    constant,
    options,
    resolved,
)
from netmend.program.meaning.loops import call_events
from netmend.program.meaning.losses import loss_use
from netmend.program.meaning.operations import LAYOUT, depends_on, operation, parts_of, walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.training import backward_calls, grad_is_off, loss_of

_ARITHMETIC = frozenset(("+", "-", "*", "/", "neg"))
_BOUNDED = ("tanh", "relu", "sigmoid")
_SMOOTH = LAYOUT | {*SUMMARIES, *ARITHMETIC, *_BOUNDED, "stack", "cat", "abs", "square", "pow"}


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


_SMOOTH_OPERATORS = frozenset(("+", "-", "*", "/", "@", "**", "neg"))
_METHODS = LAYOUT | {*SUMMARIES, *ARITHMETIC, *_BOUNDED, "expand_as", "repeat", "chunk", "split", "unbind"}
_MAKERS = {"detach", "argmax", "argmin", "tensor", "no_grad", "from_numpy"}
_CUT = frozenset((*COMPARISONS, *CHECKS, *LIKE, *DRAWS, *COUNTS)) | _MAKERS
# give values and indices
_WITH_INDICES = frozenset(("max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax", "cummin"))
_LOSS = re.compile(r"loss|criterion", re.IGNORECASE)  # a parameter or an attribute of this name, called
_NO_GRAPH = frozenset(("data", "shape", "grad", "device", "dtype"))


@dataclass(frozen=True)
class Carried:
    """A variable or an attribute: what it holds from the round before, and the event that stores its next value."""

    name: str
    before: Value
    stored: Event


def carried(loop: Loop) -> Iterator[Carried]:
    """What a loop stores in each round and finds again in the next."""
    stores: dict[tuple[int, str], list[Event]] = {}
    for event in loop.body.events():
        if event.kind == STORE and event.target is not None and event.target.name:
            base = event.target.base
            owner = resolved(base)
            if owner is None or isinstance(owner, Instance):
                stores.setdefault((id(owner) if owner is not None else 0, event.target.name), []).append(
                    event
                )
    for (owner_id, name), events in stores.items():
        target = events[0].target
        last = [event for event in events if always(event, loop)]
        if target is None or not last or events[-1] is not last[-1]:
            continue  # a later store on one path only may be the place where it is cut
        old = target.old
        if owner_id:
            if old is not None and not isinstance(old, Unknown) and getattr(old, "value", 0) is not None:
                yield Carried(name, old, last[-1])
        elif old is not None:
            for option in options(old):
                if isinstance(option, Unknown) and option.node is loop.node:
                    yield Carried(name, option, last[-1])


def learns(program: Program, value: Value) -> bool:
    """Does a gradient of `value` surely flow into a network?"""
    events = call_events(program)
    for part in walk(value):
        if not isinstance(part, Call) or not any(
            role(callee) == MODEL for callee in options(resolved(part.function))
        ):
            continue
        event = events.get(id(part))
        if (event is None or not grad_is_off(event)) and has_graph_of(program, value, part):
            return True
    return False


def has_graph_of(program: Program, value: Value | None, source: Value, depth: int = 40) -> bool:
    """Does a gradient of `value` surely flow back into `source`, on every path?"""
    if value is None or depth == 0:
        return False
    if value is source:
        return True
    if isinstance(value, Either):
        others = [option for option in value.options if option is not source]
        if len(others) < len(value.options):  # the state as it was before, unless one path changes it
            others = [option for option in others if depends_on(option, source)]
        return all(has_graph_of(program, option, source, depth - 1) for option in others)
    if not _is_smooth(program, value):
        return False
    return any(has_graph_of(program, part, source, depth - 1) for part in parts_of(value))


def _is_smooth(program: Program, value: Value) -> bool:
    if isinstance(value, Item):
        op = operation(value.base)
        return op is None or op.name not in _WITH_INDICES or constant(value.key) != 1
    if isinstance(value, Collection):
        return True
    if isinstance(value, Attribute):
        return value.name not in _NO_GRAPH
    if isinstance(value, Operation):
        return value.operator in _SMOOTH_OPERATORS
    if not isinstance(value, Call):
        return False
    event = call_events(program).get(id(value))
    if event is not None and grad_is_off(event):
        return False
    if value.result is not None or role(value.function) == MODEL:
        return True
    if _LOSS.search(getattr(value.function, "name", "")):
        return True
    op = operation(value)
    if op is None or op.name in _CUT:
        return False
    return (
        op.layer is not None
        or op.name in _METHODS
        or (bool(value.qualified) and value.qualified.startswith("torch."))
    )
