"""Derivatives that the program takes itself, with `torch.autograd.grad`, and how they get into a loss."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.library.operations import LIKE
from netmend.program.engine.history import Body, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Either,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.gradient_flow import cut_at
from netmend.program.meaning.loops import call_events
from netmend.program.meaning.losses import loss_kind, loss_use
from netmend.program.meaning.operations import operation, walk
from netmend.program.meaning.roles import MODEL, role, same
from netmend.program.meaning.training import grad_is_off

GRAD = "torch.autograd.grad"
_SUMS = frozenset(("+", "-", "neg", "pos"))
_ARITHMETIC = _SUMS | {"*", "/", "**", "@"}
_JOINING = frozenset(("add", "sub", "cat", "concat", "stack", "hstack", "vstack", "sum", "mean"))
_VIEWS = frozenset(("T", "mT", "real", "imag"))
_NO_DATA = frozenset(("shape", "device", "dtype", "ndim"))
_FILLED = frozenset((*LIKE, "size"))
_BUILTINS = frozenset(("sum", "abs", "max", "min"))
_MOST_STEPS = 2000


def is_without_graph(call: Call) -> bool:
    """A derivative that is a constant for what is computed of it; where that cannot be told, it counts as one with a graph."""
    if call.qualified != GRAD or call.open or "create_graph" in call.keywords:
        given = call.keywords.get("create_graph")
        return call.qualified == GRAD and not call.open and constant(given) is False
    return len(call.args) < 5 or constant(call.args[4]) is False


def inputs_of(call: Call) -> list[Value]:
    """What the derivative is taken with regard to."""
    given = call.argument("inputs", 1)
    given = resolved(given)
    if isinstance(given, Collection):
        return [] if given.open else [resolved(item) for item in given.items]
    return [given] if given is not None else []


def network_differentiated(program: Program, call: Call) -> set[int]:
    """The networks between the outputs and the inputs, if the inputs are data that a network is given; weights give none."""
    outputs = call.argument("outputs", 0)
    inputs = inputs_of(call)
    if outputs is None or not inputs:
        return set()
    found: set[int] = set()
    is_fed = False
    for value in walk(outputs, into=lambda value: not any(value is given for given in inputs)):
        if isinstance(value, Call) and is_network_call(value):
            found.add(id(resolved(value.function)))
            is_fed |= any(_holds(argument, inputs) for argument in value.args[:1])
    return found if is_fed else set()


def _holds(argument: Value, inputs: list[Value]) -> bool:
    """Is what is differentiated by in the argument, or an attribute of it: `model(data)` and `data.pos`?"""
    wanted = [*inputs, *(resolved(given.base) for given in inputs if isinstance(given, Attribute))]
    return any(same(part, given) for part in walk(argument) for given in wanted)


def is_network_call(call: Call) -> bool:
    return not call.method and role(call.function) == MODEL and not loss_kind(call.function)


def networks(program: Program, value: Value | None) -> set[int]:
    """The networks that a gradient from a value gets to, by identity."""

    def lets_through(part: Value) -> bool:
        if isinstance(part, Attribute) and part.name in _NO_DATA:
            return False
        if isinstance(part, Call) and (is_without_graph(part) or _last_name(part) in _FILLED):
            return False
        return not _is_cut(program, part)

    return {
        id(resolved(part.function))
        for part in walk(value, into=lets_through)
        if isinstance(part, Call) and is_network_call(part) and not _is_cut(program, part)
    }


def _last_name(call: Call) -> str:
    return call.method or call.qualified.rpartition(".")[2]


def _is_cut(program: Program, value: Value) -> bool:
    event = call_events(program).get(id(value)) if isinstance(value, Call) else None
    return cut_at(value) is not None or (event is not None and grad_is_off(event))


def derivatives_in(program: Program, loss: Value) -> Iterator[Call]:
    """Derivatives without a graph that get into a loss as a term, by arithmetic: not through a network, not as a factor of one."""
    waiting: list[tuple[Value, tuple[Call, ...]]] = [(loss, ())]
    seen: set[tuple[int, ...]] = set()
    while waiting and len(seen) < _MOST_STEPS:
        value, entered = waiting.pop()
        key = (id(value), *(id(call) for call in entered))
        if key in seen or _is_cut(program, value):
            continue
        seen.add(key)
        if isinstance(value, Call):
            if value.qualified == GRAD:
                if is_without_graph(value) and _is_inside(call_events(program).get(id(value)), entered):
                    yield value
                continue
            if value.result is not None:
                inside = (*entered, value) if is_network_call(value) else entered
                waiting.append((value.result, inside))
                continue
        waiting.extend((part, entered) for part in _terms(program, value))


def _is_inside(event: Event | None, calls: tuple[Call, ...]) -> bool:
    """Does it happen in the networks on its way: is it not something that they were given?"""
    around = [part.call for part in event.around() if isinstance(part, Body)] if event is not None else []
    return event is not None and all(any(call is inner for inner in around) for call in calls)


def _terms(program: Program, value: Value) -> list[Value]:
    """What a value is a sum or a smooth function of."""
    if isinstance(value, Operation):
        if value.operator not in _ARITHMETIC:
            return []
        return _factors(program, list(value.operands), value.operator in _SUMS)
    if isinstance(value, Either):
        return list(value.options)
    if isinstance(value, Collection):
        return list(value.items) if value.kind != "dict" else []
    if isinstance(value, Item):
        return [value.base]
    if isinstance(value, Attribute):
        return [value.base] if value.name in _VIEWS else []
    if not isinstance(value, Call):
        return []
    if value.qualified in _BUILTINS:
        return list(value.args)
    event = call_events(program).get(id(value))
    use = loss_use(event) if event is not None else None
    if use is not None:
        return [use.prediction] if use.prediction is not None else []
    op = operation(value)
    is_smooth = op is not None and op.layer is None and not isinstance(resolved(value.function), Call)
    if op is None or not is_smooth or (isinstance(value.function, Name) and "torch" not in value.qualified):
        return []
    return _factors(program, list(op.inputs), op.name in _JOINING)


def _factors(program: Program, operands: list[Value], are_terms: bool) -> list[Value]:
    """The operands; without those that only weigh what another network gives."""
    if are_terms or len(operands) < 2:
        return operands
    trained = [bool(networks(program, operand)) for operand in operands]
    return [
        operand
        for place, operand in enumerate(operands)
        if not any(trained[other] for other in range(len(operands)) if other != place)
    ]
