"""Indexing: which axis an index cuts, read from `x[:, -1]` and its like."""

from __future__ import annotations

from netmend.program.engine.values import Collection, Const, Operation, Value, constant, resolved


def is_last_of(key: Value, axis: int) -> bool:
    """`[:, -1]` for axis 1, `[-1]` for axis 0, with or without `:` behind it."""
    key = resolved(key)
    if axis == 0 and isinstance(key, Const):
        return bool(key.value == -1)
    if not isinstance(key, Collection) or len(key.items) not in (axis + 1, 3):
        return False
    for place, item in enumerate(key.items):
        item = resolved(item)
        if place == axis:
            if not (isinstance(item, Const) and item.value == -1):
                return False
        elif not (isinstance(item, Operation) and item.operator == "slice" and _is_all(item)):
            return False
    return True


def _is_all(item: Operation) -> bool:
    return all(constant(part, 0) is None for part in item.operands)
