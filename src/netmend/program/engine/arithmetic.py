"""Arithmetic on constants: sizes are often written as `16 * 5 * 5`, flags as `not debug`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from netmend.program.engine.values import (
    Call,
    Class,
    Collection,
    Const,
    Function,
    Instance,
    Operation,
    Value,
    resolved,
)

_LARGEST = 1e15  # no `2 ** 10 ** 9`

_SIMPLE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
}


def computed(sign: str, operands: tuple[Value, ...], node: ast.AST) -> Value:
    """The constant that an operation on constants gives, else the operation."""
    if all(isinstance(operand, Const) for operand in operands):
        values = [operand.value for operand in operands]  # type: ignore[attr-defined]
        found = _result(sign, values)
        if found is not None:
            return Const(found, node)
    if sign in ("is", "is not") and _is_none(operands[1]) and is_something(operands[0]):
        return Const(sign == "is not", node)
    return Operation(sign, operands, node)


_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "neg", "pos", "slice", "format"))
_LIBRARIES = ("numpy.", "pandas.", "polars.", "torch.")
_STATISTICS = frozenset(("mean", "std", "var", "min", "max", "median", "amin", "amax", "quantile", "sum"))


def is_something(value: Value) -> bool:
    """Is it certain that a value is not None: `if stats is None:` is then decided?"""
    value = resolved(value)
    if isinstance(value, Collection | Instance | Function | Class):
        return True
    if isinstance(value, Operation):
        return value.operator in _ARITHMETIC or (value.operator == "or" and is_something(value.operands[-1]))
    if isinstance(value, Call):
        made = value.qualified.rpartition(".")[2]
        return (
            made[:1].isupper()
            or value.qualified.startswith(_LIBRARIES)
            or (value.method or made) in _STATISTICS
        )
    return False


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _result(sign: str, values: list[Any]) -> Any:
    try:
        if sign == "not":
            return not values[0]
        if sign == "and":
            return next((value for value in values if not value), values[-1])
        if sign == "or":
            return next((value for value in values if value), values[-1])
        if sign in ("==", "!=", "is", "is not"):
            return bool(_SIMPLE[sign](values[0], values[1]))
        if not all(isinstance(value, int | float) for value in values):
            return None
        if any(abs(value) > _LARGEST for value in values):
            return None
        if sign == "neg":
            return -values[0]
        if sign == "pos":
            return values[0]
        if sign == "**":
            return values[0] ** values[1] if abs(values[1]) <= 64 and abs(values[0]) <= 1e4 else None
        return _SIMPLE[sign](values[0], values[1]) if sign in _SIMPLE else None
    except (ArithmeticError, TypeError, ValueError):
        return None
