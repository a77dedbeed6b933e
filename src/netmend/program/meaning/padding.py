"""Sequences that were filled up to one length, and where the filled-up batches go."""

from __future__ import annotations

from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Function,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders_of_models import loader_made

PADDED, UNPACKED = "torch.nn.utils.rnn.pad_sequence", "torch.nn.utils.rnn.pad_packed_sequence"
_ZEROS = frozenset(("numpy.zeros", "torch.zeros", "numpy.full", "torch.full"))


def padded(program: Program, value: Value | None) -> Call | None:
    """The `pad_sequence(…)` whose rows reach a place, through conversions, slices and a loader's `collate_fn`."""
    for _ in range(12):
        if value is None:
            return None
        value = same_numbers(value)
        if isinstance(value, Call):
            return value if value.qualified == PADDED else None
        if not isinstance(value, Item):
            return None
        collated = _collated(program, value)
        value = collated if collated is not None else (value.base if _is_range(value.key) else None)
    return None


def _collated(program: Program, item: Item) -> Value | None:
    """What a `collate_fn` of the project gives for this part of a batch."""
    element, place = resolved(item.base), constant(item.key)
    loader = loader_made(element.iterable) if isinstance(element, Element) else None
    given = loader.keywords.get("collate_fn") if loader is not None else None
    function = resolved(given)
    if not isinstance(function, Function) or not isinstance(place, int):
        return None
    for entry in program.entries:
        if entry.function is not None and entry.function.definition is function.definition:
            result = resolved(entry.result)
            if isinstance(result, Collection) and result.kind == "tuple" and not result.open:
                return result.items[place] if 0 <= place < len(result.items) else None
    return None


def _is_range(key: Value) -> bool:
    """A slice, or several of them: `[:, 1:]`."""
    key = resolved(key)
    parts = key.items if isinstance(key, Collection) else [key]
    return all(isinstance(part, Operation) and part.operator == "slice" for part in map(resolved, parts))


def filled_rows(program: Program, value: Value | None) -> bool:
    """Are the rows of an array of zeros filled only up to a length of their own: `ids[i, :n] = words`?"""
    for _ in range(12):
        if value is None:
            return False
        value = same_numbers(value)
        if isinstance(value, Item):
            value = None if isinstance(resolved(value.base), Element) else value.base
            continue
        break
    if not isinstance(value, Call) or value.qualified not in _ZEROS:
        return False
    return any(
        event.kind == STORE
        and event.target is not None
        and event.target.base is not None
        and resolved(event.target.base) is value
        and _is_beginning(event.target.key)
        for event in program.events
    )


def _is_beginning(key: Value | None) -> bool:
    """`[i, :n]` where n is no constant."""
    key = resolved(key)
    if not isinstance(key, Collection) or len(key.items) != 2:
        return False
    part = resolved(key.items[1])
    if not isinstance(part, Operation) or part.operator != "slice":
        return False
    lower, upper = (resolved(bound) for bound in part.operands[:2])
    return constant(lower) in (None, 0) and isinstance(lower, Const) and not isinstance(upper, Const)
