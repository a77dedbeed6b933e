"""State that a loop carries from round to round with its graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
from netmend.program.meaning.operations import LAYOUT, depends_on, operation, parts_of, walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.training import grad_is_off

_ARITHMETIC = frozenset(("+", "-", "*", "/", "@", "**", "neg"))
_METHODS = LAYOUT | {
    "mean",
    "sum",
    "mul",
    "div",
    "add",
    "sub",
    "expand_as",
    "repeat",
    "chunk",
    "split",
    "unbind",
    "tanh",
    "relu",
    "sigmoid",
}
_CUT = frozenset(
    (
        "detach",
        "argmax",
        "argmin",
        "zeros_like",
        "ones_like",
        "randn_like",
        "rand_like",
        "tensor",
        "no_grad",
        "from_numpy",
        "full_like",
        "empty_like",
        "multinomial",
        "bernoulli",
        "normal",
        "argsort",
        "nonzero",
        "unique",
        "bincount",
        "searchsorted",
        "bucketize",
        "histc",
        "eq",
        "ne",
        "gt",
        "ge",
        "lt",
        "le",
        "isnan",
        "isinf",
        "isfinite",
        "logical_and",
        "logical_or",
        "logical_not",
    )
)
_WITH_INDICES = frozenset(
    ("max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax", "cummin")
)  # give values and indices
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
        return value.operator in _ARITHMETIC
    if not isinstance(value, Call):
        return False
    event = call_events(program).get(id(value))
    if event is not None and grad_is_off(event):
        return False
    if (
        value.result is not None
        or role(value.function) == MODEL
        or _LOSS.search(getattr(value.function, "name", ""))
    ):
        return True
    op = operation(value)
    if op is None or op.name in _CUT:
        return False
    return (
        op.layer is not None
        or op.name in _METHODS
        or (bool(value.qualified) and value.qualified.startswith("torch."))
    )
