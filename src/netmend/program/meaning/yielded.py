"""What generators of the program yield: they are read, not followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.program.engine.values import Call, Element, Function, Item, Value, constant, resolved
from netmend.program.meaning.arrays import same_numbers
from netmend.program.text.queries import last_name

_FILLED = ("zeros", "ones")


def yields_filled(value: Value) -> bool:
    """Is a value a part of what a generator yields, filled up there with a number that may be a class?"""
    value = same_numbers(value)
    element = resolved(value.base) if isinstance(value, Item) else None
    made = resolved(element.iterable) if isinstance(element, Element) else None
    function = resolved(made.function) if isinstance(made, Call) else None
    place = constant(value.key) if isinstance(value, Item) else None
    if not isinstance(function, Function) or not isinstance(place, int):
        return False
    for node in ast.walk(function.definition):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) and place < len(node.value.elts):
            return _is_filled(function.definition, node.value.elts[place])
    return False


def _is_filled(definition: ast.AST, node: ast.expr) -> bool:
    """`pad_sequence(…)`, or zeros into whose rows something is written up to a length or place by place."""
    if isinstance(node, ast.Name):
        made = list(_assigned(definition, node.id))
        if any(last_name(call.func) in _FILLED for call in made):
            return any(_is_row(key) for key in _written(definition, node.id))
        return any(_is_filled(definition, call) for call in made)
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if name == "pad_sequence":
        numbers = [keyword.value for keyword in node.keywords if keyword.arg == "padding_value"]
        return all(_may_be_class(number) for number in numbers)
    if name in ("from_numpy", "tensor", "as_tensor"):
        return any(_is_filled(definition, inner) for inner in node.args[:1])
    return (
        name in ("to", "long")
        and isinstance(node.func, ast.Attribute)
        and _is_filled(definition, node.func.value)
    )


def _may_be_class(node: ast.expr) -> bool:
    number = node.value if isinstance(node, ast.Constant) else None
    return isinstance(number, int | float) and number >= 0


def _assigned(definition: ast.AST, name: str) -> Iterator[ast.Call]:
    for part in ast.walk(definition):
        targets = part.targets if isinstance(part, ast.Assign) else []
        made = part.value if isinstance(part, ast.Assign) else None
        if isinstance(made, ast.Call) and any(getattr(target, "id", "") == name for target in targets):
            yield made


def _written(definition: ast.AST, name: str) -> Iterator[ast.expr]:
    """The keys at which something is stored into it."""
    for part in ast.walk(definition):
        if (
            isinstance(part, ast.Subscript)
            and isinstance(part.ctx, ast.Store)
            and getattr(part.value, "id", "") == name
        ):
            yield part.slice


def _is_row(key: ast.expr) -> bool:
    """`[i, :n]`, `[i, j]`"""
    if not isinstance(key, ast.Tuple) or len(key.elts) != 2:
        return False
    last = key.elts[1]
    if isinstance(last, ast.Slice):
        return last.lower is None and last.upper is not None and not isinstance(last.upper, ast.Constant)
    return isinstance(last, ast.Name)
