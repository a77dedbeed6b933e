"""A loss as a sum of terms with their signs, through means, sums and constant factors."""

from __future__ import annotations

from netmend.lint.engine.values import Const, Operation, Value, resolved
from netmend.lint.understand.operations import LAYOUT, operation

_AVERAGES = LAYOUT | {"mean", "sum"}
_MOST_TERMS = 40


def signed_terms(value: Value) -> list[tuple[int, Value]] | None:
    """`-(a - 2 * b).mean()` → [(-1, a), (1, b)]; None where a factor's sign is not known or there are too many."""
    found: list[tuple[int, Value]] = []
    waiting = [(1, value)]
    while waiting:
        if len(found) + len(waiting) > _MOST_TERMS:
            return None
        sign, current = waiting.pop()
        current = resolved(current)
        op = operation(current)
        if isinstance(current, Operation):
            inner = _split(sign, current)
            if inner is None:
                found.append((sign, current))
            else:
                waiting.extend(inner)
        elif op is not None and op.name == "neg" and op.inputs:
            waiting.append((-sign, op.inputs[0]))
        elif op is not None and op.name in _AVERAGES and op.inputs and op.layer is None:
            waiting.append((sign, op.inputs[0]))
        else:
            found.append((sign, current))
    return found


def _split(sign: int, value: Operation) -> list[tuple[int, Value]] | None:
    operands = value.operands
    if value.operator == "neg":
        return [(-sign, operands[0])]
    if value.operator in ("+", "-") and len(operands) == 2:
        return [(sign, operands[0]), (sign if value.operator == "+" else -sign, operands[1])]
    if value.operator in ("*", "/") and len(operands) == 2:
        left, right = _sign(operands[0]), _sign(operands[1])
        if right is not None:
            return [(sign * right, operands[0])]
        if left is not None and value.operator == "*":
            return [(sign * left, operands[1])]
    return None


def _sign(value: Value) -> int | None:
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, int | float) and value.value:
        return 1 if value.value > 0 else -1
    return None
