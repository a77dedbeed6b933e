"""Weights that a program changes by hand: `w -= rate * w.grad`."""

from __future__ import annotations

from netmend.program.engine.history import AUGMENT, Event
from netmend.program.engine.values import Attribute, Call, Operation, Value, resolved
from netmend.program.meaning.freezing import owner_of_parameter
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import same


def updated_by_hand(event: Event) -> Value | None:
    """The weight that an event changes in place by its own gradient; the model for one of `model.parameters()`."""
    if event.kind == AUGMENT and isinstance(event.value, Operation) and len(event.value.operands) == 2:
        weight, change = event.value.operands
    elif event.call is not None and event.call.method in ("sub_", "add_") and event.call.receiver is not None:
        weight, change = event.call.receiver, event.call
    else:
        return None
    weight = _whole(weight)
    parts = change.args if isinstance(change, Call) and change is event.call else (change,)
    for part in parts:
        for value in walk(part):
            if isinstance(value, Attribute) and value.name == "grad" and same(_whole(value.base), weight):
                return owner_of_parameter(weight) or weight
    return None


def _whole(value: Value) -> Value:
    """`w` for `w.data`."""
    value = resolved(value)
    while isinstance(value, Attribute) and value.name == "data":
        value = resolved(value.base)
    return value
