"""Which models and layers are frozen, where, and what is set free again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import CallEvent, Event, StoreEvent, always, branches_between
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Const, Element, Item, Value, constant, resolved
from netmend.program.meaning.roles import bare
from netmend.program.meaning.states import holds, named_layers


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
    loop = event.loop
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


@dataclass(frozen=True)
class FrozenLayers:
    """Layers that an event switches off for good."""

    event: Event
    layers: tuple[Call, ...]


def frozen_layers(program: Program) -> Iterator[FrozenLayers]:
    for freeze in freezes(program):
        layers: list[Call] = []
        for model in _each(freeze.model):
            found = named_layers(model)
            layers.extend(found.values() if found is not None else ())
        if layers:
            yield FrozenLayers(freeze.event, tuple(layers))
    for event in program.events:
        named = _by_name(event)
        if named:
            yield FrozenLayers(event, named)


def _each(model: Value) -> list[Value]:
    """The models themselves, where a loop runs over a written list of them."""
    listed = resolved(model.iterable) if isinstance(model, Element) else None
    return list(listed.items) if isinstance(listed, Collection) and not listed.open else [model]


def _by_name(event: Event) -> tuple[Call, ...]:
    """`for name, p in model.named_parameters(): if "head" not in name: p.requires_grad = False`."""
    parameter, flag = _switched(event)
    item = resolved(parameter)
    model = owner_of_parameter(item)
    if model is None or flag is None or not isinstance(item, Item):
        return ()
    loop = event.loop
    branches = branches_between(event, loop)
    layers = named_layers(model)
    if loop is None or layers is None or (not branches and isinstance(flag, Const)):
        return ()
    if any(part.kind == "exit" for part in loop.body.events()):
        return ()
    name = Item(item.base, Const(0))
    frozen = []
    for prefix, layer in layers.items():
        outcomes = [
            _taken(branch.test, branch.blocks.index(block), name, f"{prefix}weight")
            for branch, block in branches
            if branch.kind == "if"
        ]
        outcomes.append(_negated(holds(flag, name, f"{prefix}weight")))
        if None in outcomes or len(outcomes) != len(branches) + 1:
            return ()
        if all(outcomes):
            frozen.append(layer)
    return tuple(frozen)


def _switched(event: Event) -> tuple[Value | None, Value | None]:
    """The parameter whose gradients are switched and the flag it gets."""
    call = event.call
    if call is not None and call.method == "requires_grad_":
        return call.receiver, call.argument("requires_grad", 0)
    if isinstance(event, StoreEvent) and event.target.name == "requires_grad":
        return event.target.base, event.value
    return None, None


def _taken(test: Value | None, place: int, name: Item, text: str) -> bool | None:
    outcome = holds(test, name, text) if test is not None else None
    return outcome if place == 0 else _negated(outcome)


def _negated(outcome: bool | None) -> bool | None:
    return None if outcome is None else not outcome
