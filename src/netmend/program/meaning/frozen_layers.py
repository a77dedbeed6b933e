"""Layers of a model that are switched off one by one: as a part of the model, or by the names of their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.history import Event, Loop, StoreEvent, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Element, Item, Value, resolved
from netmend.program.meaning.freezing import freezes, owner_of_parameter
from netmend.program.meaning.parameter_names import holds, named_layers


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
    loop = next((part for part in event.around() if isinstance(part, Loop)), None)
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
