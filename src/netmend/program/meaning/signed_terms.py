"""A loss as a sum of terms with their signs, through means, sums and constant factors."""

from __future__ import annotations

import re

from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.gradient_flow import is_computed
from netmend.program.meaning.operations import LAYOUT, Op, operation

_AVERAGES = LAYOUT | {"mean", "sum"}
_MOST_TERMS = 40
_JOINS = ("torch.stack", "torch.cat", "sum")
_WEIGHT = re.compile(r"beta|weight|lambda|coef|annealing|batch_?size", re.IGNORECASE)


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
        elif (listed := _listed(current)) is not None:
            waiting.extend((sign, item) for item in listed)
        else:
            found.append((sign, current))
    return found


def _listed(value: Value) -> list[Value] | None:
    """The losses of `torch.stack(losses)`, `torch.cat(losses)`, `sum(losses)`."""
    if not isinstance(value, Call) or value.qualified not in _JOINS or not value.args:
        return None
    given = resolved(value.args[0])
    return given.items if isinstance(given, Collection) and given.kind == "list" and given.items else None


def _split(sign: int, value: Operation) -> list[tuple[int, Value]] | None:
    operands = value.operands
    if value.operator == "neg":
        return [(-sign, operands[0])]
    if value.operator in ("+", "-") and len(operands) == 2:
        return [(sign, operands[0]), (sign if value.operator == "+" else -sign, operands[1])]
    if value.operator in ("*", "/") and len(operands) == 2:
        left, right = sign_of(operands[0]), sign_of(operands[1])
        if right is not None:
            return [(sign * right, operands[0])]
        if left is not None and value.operator == "*":
            return [(sign * left, operands[1])]
    return None


def sign_of(value: Value) -> int | None:
    """The sign of a factor: of a number, a count, a weight of a term; None where it is not known."""
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, int | float) and value.value:
        return 1 if value.value > 0 else -1
    return 1 if _is_count(value) or _is_weight(value) else None


def _is_count(value: Value) -> bool:
    """`len(x)`, `x.size(0)`, `x.shape[0]`, `x.numel()`: never below zero."""
    if isinstance(value, Call):
        return value.qualified == "len" or value.method in ("size", "numel")
    return isinstance(value, Item) and isinstance(value.base, Attribute) and value.base.name == "shape"


def _is_weight(value: Value) -> bool:
    """A weight of a term whose value the text does not tell: `args.beta`, `kl_weight`."""
    return isinstance(value, Param | Attribute) and bool(_WEIGHT.search(value.name))


def is_flipped_hinge(value: Value) -> bool:
    """`clamp(1 + score * label, min=0)`, `relu(1 + score * label)`."""
    op = operation(value)
    if op is None or not op.inputs or not (op.name == "relu" or _is_from_zero(op)):
        return False
    inner = resolved(op.inputs[0])
    if not isinstance(inner, Operation) or inner.operator != "+" or len(inner.operands) != 2:
        return False
    parts = [resolved(part) for part in inner.operands]
    products = [
        part
        for part in parts
        if isinstance(part, Operation) and part.operator == "*" and len(part.operands) == 2
    ]
    if len(products) != 1 or not any(isinstance(part, Const) for part in parts):
        return False
    return [is_computed(part) for part in products[0].operands].count(True) == 1 and not any(
        isinstance(resolved(part), Const) for part in products[0].operands
    )


def _is_from_zero(op: Op) -> bool:
    return op.name == "clamp" and constant(op.option("min", 0)) == 0 and op.option("max", 1) is None


def flipped_gaussian(terms: list[tuple[int, Value]]) -> str:
    """log_var and error² / exp(log_var) with opposite signs."""
    for sign, value in terms:
        if not isinstance(value, Operation) or value.operator != "/" or len(value.operands) != 2:
            continue
        scale = operation(resolved(value.operands[1]))
        square = resolved(value.operands[0])
        is_square = isinstance(square, Operation) and square.operator == "**"
        if scale is None or scale.name != "exp" or not scale.inputs or not is_square:
            continue
        log_scale = resolved(scale.inputs[0])
        if any(other is log_scale and other_sign != sign for other_sign, other in terms):
            return "log-variance and scaled error must have the same sign in a Gaussian likelihood"
    return ""
