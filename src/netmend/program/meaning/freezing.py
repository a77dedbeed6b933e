"""Which models are frozen as a whole, where, and what is set free again."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.program.engine.history import CallEvent, Event, Loop, StoreEvent, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, Item, Value, constant, resolved
from netmend.program.meaning.remember import once
from netmend.program.meaning.roles import bare


@dataclass(frozen=True)
class Freeze:
    """Every parameter of a model is switched off; `around` is what must run for it to happen: the loop or the call itself."""

    event: Event
    model: Value


@once
def freezes(program: Program) -> tuple[Freeze, ...]:
    """Models of which each parameter is frozen, without a condition on its name."""
    found = []
    for event in program.events:
        model = _frozen(event)
        if model is not None:
            found.append(Freeze(event, model))
    return tuple(found)


def _frozen(event: Event) -> Value | None:
    call = event.call
    if call is not None and call.method == "requires_grad_":
        if constant(call.argument("requires_grad", 0), True) is not False:
            return None
        owner = call.receiver
        model = owner_of_parameter(owner)
        if model is not None:
            return model if _in_whole_loop(event) else None
        return bare(owner)
    if _is_flag(event) and event.target is not None and constant(event.value, True) is False:
        model = owner_of_parameter(event.target.base)
        return model if model is not None and _in_whole_loop(event) else None
    return None


def _is_flag(event: Event) -> bool:
    return isinstance(event, StoreEvent) and event.target.name == "requires_grad"


def _in_whole_loop(event: Event) -> bool:
    """Does it happen for each element of its innermost loop?"""
    loop = next((part for part in event.around() if isinstance(part, Loop)), None)
    return (
        loop is not None
        and always(event, loop)
        and not any(other.kind == "exit" for other in loop.body.events())
    )


def owner_of_parameter(value: Value | None) -> Value | None:
    """The model for an element of `model.parameters()` or the second part of one of `model.named_parameters()`."""
    value = resolved(value)
    wanted = "parameters"
    if isinstance(value, Item) and constant(value.key) == 1:
        value, wanted = resolved(value.base), "named_parameters"
    if not isinstance(value, Element):
        return None
    iterable = resolved(value.iterable)
    if isinstance(iterable, Call) and iterable.qualified in ("list", "tuple") and iterable.args:
        iterable = resolved(iterable.args[0])
    if isinstance(iterable, Call) and iterable.method == wanted and iterable.result is None:
        return bare(iterable.receiver)
    return None


@once
def releases(program: Program) -> tuple[Event, ...]:
    """Everything that may switch gradients of parameters on again."""
    found: list[Event] = []
    for event in program.events:
        if isinstance(event, CallEvent) and event.call.method == "requires_grad_":
            if constant(event.call.argument("requires_grad", 0), True) is not False:
                found.append(event)
        elif _is_flag(event) and constant(event.value, True) is not False:
            found.append(event)
    return tuple(found)


def is_released(program: Program, freeze: Freeze) -> bool:
    """May any parameter be free again after a freeze? Anything unclear counts as yes."""
    return any(event.order > freeze.event.order for event in releases(program))
