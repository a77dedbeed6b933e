"""Between which numbers the values of a made-up target lie, by the formula that makes them."""

from __future__ import annotations

import math

from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Either, Item, Name, Operation, Value, resolved
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.operations import LAYOUT, named

Range = tuple[float, float]
_SPREAD = 3.0  # draws of a normal distribution that are sure to come up, in standard deviations
_SAME = LAYOUT | {"tensor", "as_tensor", "from_numpy", "astype", "array", "asarray", "detach", "stack", "cat"}
_BOUNDED: dict[str, Range] = {
    "sin": (-1, 1), "cos": (-1, 1), "tanh": (-1, 1), "sign": (-1, 1), "sigmoid": (0, 1), "rand": (0, 1), "randn": (-_SPREAD, _SPREAD),
    "randn_like": (-_SPREAD, _SPREAD), "rand_like": (0, 1), "random": (0, 1), "standard_normal": (-_SPREAD, _SPREAD),
}  # fmt: skip


def range_of(program: Program, value: Value | None, depth: int = 0) -> Range | None:
    """The lowest and highest value that come up, if the text tells; dependent terms may make it a little too wide."""
    value = resolved(value)
    if depth > 40 or value is None:
        return None
    if isinstance(value, Const):
        return (float(value.value), float(value.value)) if isinstance(value.value, int | float) else None
    if isinstance(value, Name):
        return (math.pi, math.pi) if value.qualified in ("math.pi", "numpy.pi", "torch.pi") else None
    if isinstance(value, Either):
        ranges = {range_of(program, option, depth + 1) for option in value.options}
        return ranges.pop() if len(ranges) == 1 else None
    if isinstance(value, Item):
        part = part_of_batch(program, value)
        return range_of(program, value.base if part is None else part.value, depth + 1)
    if isinstance(value, Operation):
        return _computed(program, value, depth + 1)
    return _called(program, value, depth + 1) if isinstance(value, Call) else None


def is_centred(program: Program, value: Value | None) -> bool:
    """`(y - y.mean()) / y.std()`: values on both sides of zero, whatever y is."""
    for _ in range(10):
        value = resolved(value)
        if isinstance(value, Item):
            part = part_of_batch(program, value)
            value = value.base if part is None else part.value
        elif isinstance(value, Operation) and value.operator == "/":
            value = value.operands[0]
        elif isinstance(value, Operation) and value.operator == "-":
            mean = resolved(value.operands[1])
            name, inputs = named(mean) if isinstance(mean, Call) else ("", ())
            return name == "mean" and bool(inputs) and resolved(inputs[0]) is resolved(value.operands[0])
        else:
            name, inputs = named(value) if isinstance(value, Call) else ("", ())
            if name not in _SAME or not inputs:
                return False
            value = inputs[0]
    return False


def _called(program: Program, call: Call, depth: int) -> Range | None:
    name, inputs = named(call)
    if name in _BOUNDED:
        return _BOUNDED[name]
    if name in ("normal", "uniform") and len(call.args) >= 2:
        first, second = (range_of(program, argument, depth) for argument in call.args[:2])
        if first is None or second is None:
            return None
        if name == "uniform":
            return first[0], second[1]
        return first[0] - _SPREAD * second[1], first[1] + _SPREAD * second[1]
    inner = range_of(program, inputs[0], depth) if inputs else None
    if inner is None:
        return None
    if name in _SAME or (name == "sum" and inner[0] < 0 < inner[1]):
        return inner  # a sum of draws around zero falls on both sides too
    if name in ("abs", "relu", "square"):
        ends = [abs(end) for end in inner]
        highest = max(ends) if name == "abs" else max(inner[1], 0.0) if name == "relu" else max(ends) ** 2
        return (0.0 if inner[0] < 0 < inner[1] else min(ends)), highest
    if name == "exp" and inner[1] < 50:
        return math.exp(inner[0]), math.exp(inner[1])
    return None


def _computed(program: Program, value: Operation, depth: int) -> Range | None:
    ranges = [range_of(program, operand, depth) for operand in value.operands]
    if value.operator == "neg" and ranges[0] is not None:
        return -ranges[0][1], -ranges[0][0]
    if len(ranges) != 2 or ranges[0] is None or ranges[1] is None:
        return None
    (a, b), (c, d) = ranges[0], ranges[1]
    if value.operator == "+":
        return a + c, b + d
    if value.operator == "-":
        return a - d, b - c
    if value.operator == "*":
        if resolved(value.operands[0]) is resolved(value.operands[1]):
            return 0.0, max(a * a, b * b)
        ends = (a * c, a * d, b * c, b * d)
        return min(ends), max(ends)
    if value.operator == "/" and c * d > 0:
        ends = (a / c, a / d, b / c, b / d)
        return min(ends), max(ends)
    if value.operator == "**" and c == d == 2:
        return (0.0 if a < 0 < b else min(a * a, b * b)), max(a * a, b * b)
    return None
