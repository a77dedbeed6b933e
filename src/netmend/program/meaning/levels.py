"""The number that all targets of a loss are, if the text tells it."""

from __future__ import annotations

from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value, constant, resolved
from netmend.program.meaning.losses import LossUse
from netmend.program.meaning.operations import LAYOUT, operation

_WRAPPERS = ("torch.autograd.Variable",)
ONES, ZEROS = ("ones", "ones_like", "new_ones"), ("zeros", "zeros_like", "new_zeros")


def level(program: Program, use: LossUse) -> float | None:
    """The number that all targets of a loss are, if the text tells it."""
    value, factor = use.target, 1.0
    for _ in range(20):
        if value is None:
            return None
        value = resolved(value)
        filled = _filled_before(program, value, use.event)
        if filled is not None:
            return _number(filled.args[0], factor) if filled.args else None
        if isinstance(value, Operation) and value.operator == "*" and len(value.operands) == 2:
            left, right = (constant(operand) for operand in value.operands)
            if not isinstance(left, float | int) and not isinstance(right, float | int):
                return None
            known = isinstance(right, float | int)
            factor *= float(right if known else left)
            value = value.operands[0 if known else 1]
            continue
        if not isinstance(value, Call):
            return None
        op = operation(value)
        name = op.name if op is not None else value.qualified.rpartition(".")[2]
        if name in ONES or name in ZEROS:
            return factor * (name in ONES)
        if name in ("full", "full_like", "new_full"):
            position = 0 if name == "new_full" else 1
            given = value.keywords.get("fill_value") or (
                value.args[position] if len(value.args) > position else None
            )
            return _number(given, factor)
        if name == "fill_":
            return _number(value.args[0] if value.args else None, factor)
        if op is not None and op.name in LAYOUT and op.inputs:
            value = op.inputs[0]
        elif value.qualified in _WRAPPERS and value.args:
            value = value.args[0]
        else:
            return None
    return None


def _number(value: Value | None, factor: float) -> float | None:
    number = constant(resolved(value))
    return factor * number if isinstance(number, float | int) else None


def _filled_before(program: Program, value: Value, event: Event) -> Call | None:
    """The last `target.fill_(number)` that the loss comes after, where a tensor is used again and again."""
    last = None
    for other in program.methods_of("fill_"):
        call = other.call
        if call is value or call.receiver is None or other.order > event.order:
            continue
        if resolved(call.receiver) is value:
            last = call
    return last
