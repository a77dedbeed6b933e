"""Numbers of the source: what an expression stands for, and setting it where it was set."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable

from netmend.program.settings import value_origin
from netmend.program.source.values import Faces, given_for_option, joined, option_around, set_value
from netmend.program.text.file import File
from netmend.program.text.sources import Code
from netmend.vocabulary import Site

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_SETTING = re.compile(r"[:=]\s*[\"']?(?P<value>[-+]?[\d.]+(?:[eE][-+]?\d+)?)")


def number(code: Code, file: File, value: ast.expr, arguments: tuple[str, ...] = ()) -> float | int | None:
    """`0.1`, `LR`, `args.lr`, `config["lr"]`, sums and products of such; None when it cannot be told."""
    own = literal(value)
    if own is not None:
        return own
    if isinstance(value, ast.BinOp):
        left, right = (number(code, file, side, arguments) for side in (value.left, value.right))
        return _calculated(value.op, left, right)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = number(code, file, value.operand, arguments)
        return None if inner is None else -inner
    return _at(code, value_origin(code.sources, file.file, value), value, file, arguments)


def set_numbers(
    code: Code, numbers: Iterable[tuple[File, ast.expr, str]], arguments: tuple[str, ...] = ()
) -> Faces:
    """Give several expressions other values; what several of them come from is set once."""
    faces: dict[tuple[str, int, int | None], Faces] = {}
    for file, value, text in numbers:
        origin = value_origin(code.sources, file.file, value)
        place = origin.file, origin.line, origin.column
        if place not in faces:
            faces[place] = set_value(code, file, value, text, arguments)
            arguments = faces[place].arguments or arguments
    return joined(faces.values())


def literal(node: ast.expr) -> float | int | None:
    """The number that is written there: `3`, `-1e-3`, `10 ** -3`, not `float("1e-3")`."""
    if isinstance(node, ast.Constant):
        plain = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return node.value if plain and isinstance(node.value, int | float) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        return _calculated(node.op, literal(node.left), literal(node.right))
    return None


def _calculated(kind: ast.operator, left: float | None, right: float | None) -> float | None:
    operation = _OPERATIONS.get(type(kind))
    if operation is None or left is None or right is None or max(abs(left), abs(right)) > 1e9:
        return None
    if isinstance(kind, ast.Pow) and abs(right) > 64:
        return None
    try:
        result = operation(left, right)
    except (ArithmeticError, ValueError):
        return None
    return result if isinstance(result, int | float) and math.isfinite(result) else None


def _at(code: Code, origin: Site, value: ast.expr, file: File, arguments: tuple[str, ...]) -> float | None:
    if not origin.file.endswith(".py"):
        match = _SETTING.search(code.sources.line(origin))
        return None if match is None else _read(match["value"])
    there = code.file(origin.file)
    node = None if there is None else there.node_at(origin)
    if there is None or not isinstance(node, ast.expr) or node is value:
        return None
    option = option_around(there, node)
    given = None if option is None else given_for_option(arguments, option)
    if given is not None:
        return _read(given[2])
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _read(node.value)  # a default that argparse converts
    return literal(node)


def _read(text: str) -> float | int | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
