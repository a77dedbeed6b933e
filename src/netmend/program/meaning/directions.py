"""Across or down: which axis of a picture a coordinate, a size or a grid belongs to, as far as data, files and libraries say so.

Names of variables do not count; keys and columns of data (`row["x"]`, `df.xmin`), sizes of pictures (`image.shape[:2]`, `picture.size`) and grids
(`arange(h)[:, None]`, `meshgrid`) do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from netmend.library.operations import CASTS, COPIES, MOVES
from netmend.library.pixels import ARRAYS, KEEP_AXES, NUMBERS, PIL_STEPS, READERS, STACKS
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.operations import behind

ACROSS, DOWN = "across", "down"
_PLACES = {
    ACROSS: frozenset(("x", "x0", "x1", "x2", "xmin", "xmax", "cx", "left", "right", "col", "column")),
    DOWN: frozenset(("y", "y0", "y1", "y2", "ymin", "ymax", "cy", "top", "bottom", "upper", "lower", "row")),
}
_SIZES = {ACROSS: frozenset(("width", "w")), DOWN: frozenset(("height", "h"))}
_CENTRES = ("cx", "cy")
_WORD = re.compile(r"[A-Z]?[a-z]+\d?|[A-Z]+(?![a-z])")
MOST_DEEP = 14


@dataclass(frozen=True)
class Sense:
    """What a number tells of a picture: a place or a size, across or down; `centre` where the data call it the middle of a box."""

    direction: str
    is_size: bool = False
    centre: bool = False


@dataclass(frozen=True)
class Senses:
    """Of numbers side by side, `axes` deep: 0 for one point, 1 for a list of points."""

    each: tuple[Sense | None, ...]
    axes: int = 0


KEEPS_NUMBERS = frozenset(
    (*MOVES, *CASTS, *COPIES, "astype", "numpy", "to_numpy", "copy", "detach", "tolist", "item", "clip", "clamp", "round", "type", "strip")
)  # fmt: skip
ARITHMETIC = ("+", "-", "*", "/", "//")


def sense(value: Value | None, deep: int = 0) -> Sense | None:
    """Of one number, or of one column of numbers."""
    value = resolved(value)
    if value is None or deep > MOST_DEEP:
        return None
    if isinstance(value, Call):
        if value.qualified in NUMBERS or value.qualified in ARRAYS or value.qualified == "abs":
            return sense(value.args[0], deep + 1) if value.args else None
        return sense(value.receiver, deep + 1) if value.method in KEEPS_NUMBERS else None
    if isinstance(value, Attribute):
        if value.name == "values":
            return sense(value.base, deep + 1)
        return None if isinstance(value.base, Name) else of_word(value.name)
    if isinstance(value, Operation):
        return _of_operation(value, deep)
    if isinstance(value, Item):
        return _of_item(value, deep)
    return None


def _of_operation(value: Operation, deep: int) -> Sense | None:
    if value.operator == "neg":
        return sense(value.operands[0], deep + 1)
    if value.operator not in ARITHMETIC or len(value.operands) != 2:
        return None
    left, right = (sense(part, deep + 1) for part in value.operands)
    if left is None or right is None:
        return left or right
    if left.direction != right.direction:
        return None
    return Sense(left.direction, left.is_size and right.is_size)


def _of_item(value: Item, deep: int) -> Sense | None:
    word = _text_of(value.key)
    if word:
        return of_word(word)
    place = picked(value.key)
    if place is None:
        return None
    found = senses(value.base, deep + 1)
    if found is None or not -len(found.each) <= place < len(found.each):
        return None
    is_row = isinstance(resolved(value.key), Const)
    return None if is_row and found.axes else found.each[place]


def _text_of(key: Value) -> str:
    """A key that is text; of one that is put together the part behind."""
    key = resolved(key)
    if isinstance(key, Const) and isinstance(key.value, str):
        return key.value
    if isinstance(key, Operation) and isinstance(key.node, ast.JoinedStr):
        last = key.node.values[-1] if key.node.values else None
        return str(last.value) if isinstance(last, ast.Constant) else ""
    if isinstance(key, Operation) and key.operator == "+":
        return _text_of(key.operands[-1])
    return ""


def of_word(word: str) -> Sense | None:
    """`beak_x`, `xmin`, `imageWidth`: what a key or a column is called."""
    parts = [part.lower() for part in _WORD.findall(word)]
    found = {
        Sense(direction, is_size, part in _CENTRES)
        for is_size, words in ((False, _PLACES), (True, _SIZES))
        for direction, known in words.items()
        for part in parts
        if part in known
    }
    return found.pop() if len(found) == 1 else None


def picked(key: Value) -> int | None:
    """The place along the last axis that a key takes: `[0]`, `[:, 1]`, `[..., -1]`."""
    key = resolved(key)
    if isinstance(key, Collection) and key.kind == "tuple" and len(key.items) > 1 and not key.open:
        *before, last = [resolved(item) for item in key.items]
        if not all(is_whole(item) for item in before):
            return None
        key = last
    place = constant(key)
    return place if isinstance(place, int) and not isinstance(place, bool) else None


def is_whole(key: Value) -> bool:
    if isinstance(key, Const):
        return key.value is Ellipsis
    return isinstance(key, Operation) and key.operator == "slice" and all(
        constant(part, 0) is None for part in key.operands
    )  # fmt: skip


def senses(value: Value | None, deep: int = 0) -> Senses | None:
    """Of numbers side by side: a point, a box, the size of a picture, or a list of points."""
    value = resolved(value)
    if value is None or deep > MOST_DEEP:
        return None
    if isinstance(value, Collection):
        return _of_collection(value, deep)
    if isinstance(value, Element):
        return _of_element(value, deep)
    if isinstance(value, Attribute):
        return _of_attribute(value, deep)
    if isinstance(value, Item):
        return _of_part(value, deep)
    if isinstance(value, Operation) and value.operator in ARITHMETIC and len(value.operands) == 2:
        found = [part for part in (senses(operand, deep + 1) for operand in value.operands) if part]
        same = len({part.each for part in found}) == 1
        return max(found, key=lambda part: part.axes) if same else None
    if isinstance(value, Call):
        if value.qualified in ("numpy.flip", "numpy.fliplr") and value.args:
            found_in = senses(value.args[0], deep + 1)
            return found_in and Senses(found_in.each[::-1], found_in.axes)
        if value.method == "flip" and [constant(part) for part in value.args] in ([-1], [1]):
            found_in = senses(value.receiver, deep + 1)
            return found_in and Senses(found_in.each[::-1], found_in.axes)
        if value.qualified == "numpy.column_stack" or _joins_columns(value):
            return _of_columns(resolved(value.args[0]), deep)
        if value.qualified in ARRAYS and value.args:
            return senses(value.args[0], deep + 1)
        if value.method == "size" and not value.args and value.receiver is not None:
            axes = axes_of_picture(value.receiver)
            return Senses(axes) if axes else None
        return senses(value.receiver, deep + 1) if value.method in KEEPS_NUMBERS else None
    return None


def _joins_columns(value: Call) -> bool:
    axis = constant(value.argument("axis", 1), None) or constant(value.argument("dim", 1), None)
    return value.qualified in ("numpy.stack", "torch.stack") and axis in (1, -1) and bool(value.args)


def _of_columns(joined: Value, deep: int) -> Senses | None:
    if not isinstance(joined, Collection) or joined.open or joined.repeated:
        return None
    each = tuple(sense(item, deep + 1) for item in joined.items)
    return Senses(each, 1) if each and any(each) else None


def _of_collection(value: Collection, deep: int) -> Senses | None:
    if value.kind not in ("list", "tuple", "generator") or not value.items:
        return None
    if not value.open and not value.repeated and 2 <= len(value.items) <= 4:
        each = tuple(sense(item, deep + 1) for item in value.items)
        if all(each):
            return Senses(each)
    rows = [senses(item, deep + 1) for item in value.items[:4]]
    first = rows[0]
    return Senses(first.each, first.axes + 1) if first and all(row == first for row in rows) else None


def _of_element(value: Element, deep: int) -> Senses | None:
    """A point of a list of points, a row of columns side by side."""
    iterable = resolved(value.iterable)
    if isinstance(iterable, Call) and iterable.qualified == "zip":
        each = tuple(sense(part, deep + 1) for part in iterable.args)
        return Senses(each) if any(each) else None
    found = senses(iterable, deep + 1)
    return Senses(found.each, found.axes - 1) if found and found.axes else None


def _of_attribute(value: Attribute, deep: int) -> Senses | None:
    if value.name == "values":
        return senses(value.base, deep + 1)
    if value.name == "size" and _is_pil(value.base):
        return Senses((Sense(ACROSS, True), Sense(DOWN, True)))
    if value.name == "shape":
        axes = axes_of_picture(value.base)
        return Senses(axes) if axes else None
    return None


def _of_part(value: Item, deep: int) -> Senses | None:
    key = resolved(value.key)
    columns = (
        [constant(item) for item in key.items] if isinstance(key, Collection) and key.kind == "list" else []
    )
    if columns and all(isinstance(column, str) for column in columns):
        each = tuple(of_word(column) for column in columns)
        return Senses(each, 1) if all(each) else None
    found = senses(value.base, deep + 1)
    if found is None:
        return None
    parts = (
        [resolved(item) for item in key.items]
        if isinstance(key, Collection) and key.kind == "tuple"
        else [key]
    )
    if len(parts) > 1 or (found.axes == 0 and len(parts) == 1):
        last = parts[-1]
        order = _order(last, len(found.each))
        if order is not None:
            return Senses(tuple(found.each[place] for place in order), found.axes)
        return None
    if isinstance(key, Operation) and key.operator == "slice":
        return found
    if isinstance(constant(key), int) or isinstance(key, Element | Item):
        return Senses(found.each, max(0, found.axes - 1))
    return found  # picked by a list of places or a mask


def _order(key: Value, size: int) -> Sequence[int] | None:
    """The places that a key of the last axis takes, in its order."""
    if isinstance(key, Const) and key.value is Ellipsis:
        return range(size)
    if isinstance(key, Operation) and key.operator == "slice":
        bounds = [resolved(part) for part in key.operands]
        if all(
            isinstance(part, Const) and (part.value is None or isinstance(part.value, int)) for part in bounds
        ):
            return range(size)[slice(*(constant(part) for part in bounds))]
        return None
    if isinstance(key, Collection) and key.kind == "list" and not key.open:
        places = [constant(item) for item in key.items]
        if all(isinstance(place, int) and -size <= place < size for place in places):
            return places
    return None


Axes = tuple[Sense | None, ...]
_HEIGHT, _WIDTH = Sense(DOWN, True), Sense(ACROSS, True)


def _is_pil(value: Value) -> bool:
    def before(part: Value) -> Value | None:
        return part.receiver if isinstance(part, Call) and part.method in PIL_STEPS else None

    made = behind(value, before)
    return isinstance(made, Call) and made.qualified in (
        "PIL.Image.open",
        "PIL.Image.new",
        "PIL.Image.fromarray",
    )


def axes_of_picture(value: Value | None, deep: int = 0) -> Axes | None:
    """What the axes of an array of pixels run along, height first where a library reads it so; None where it holds no picture."""
    value = resolved(value)
    if value is None or deep > MOST_DEEP:
        return None
    if isinstance(value, Collection):
        return _of_pictures(value, deep)
    if isinstance(value, Operation) and value.operator in ARITHMETIC:
        return next((axes for part in value.operands if (axes := axes_of_picture(part, deep + 1))), None)
    if isinstance(value, Either):
        found = {axes_of_picture(option, deep + 1) for option in value.options}
        return found.pop() if len(found) == 1 else None
    if isinstance(value, Item):
        return _of_cut(value, deep)
    if isinstance(value, Element):
        axes = axes_of_picture(value.iterable, deep + 1)
        return axes[1:] if axes and axes[0] is None and len(axes) > 2 else None
    if not isinstance(value, Call):
        return None
    if value.qualified in READERS:
        return (_HEIGHT, _WIDTH, None)
    if value.args and value.qualified in ("numpy.asarray", "numpy.array") and _is_pil(value.args[0]):
        return (_HEIGHT, _WIDTH, None)
    if value.args and (value.qualified in KEEP_AXES or value.qualified in STACKS):
        return axes_of_picture(value.args[0], deep + 1)
    if value.method in KEEPS_NUMBERS or value.method in ("div", "sub", "mul", "add"):
        return axes_of_picture(value.receiver, deep + 1)
    order = [constant(part) for part in value.args]
    if value.method in ("permute", "transpose") and len(order) > 2:
        axes = axes_of_picture(value.receiver, deep + 1)
        if axes and sorted(map(str, order)) == [str(place) for place in range(len(axes))]:
            return tuple(axes[place] for place in order)
    if value.method == "unsqueeze" and order and isinstance(order[0], int) and order[0] >= 0:
        axes = axes_of_picture(value.receiver, deep + 1)
        return (*axes[: order[0]], None, *axes[order[0] :]) if axes else None
    return None


def _of_pictures(value: Collection, deep: int) -> Axes | None:
    if value.kind not in ("list", "tuple") or not value.items:
        return None
    axes = axes_of_picture(value.items[0], deep + 1)
    return (None, *axes) if axes else None


def _of_cut(value: Item, deep: int) -> Axes | None:
    axes = axes_of_picture(value.base, deep + 1)
    if axes is None:
        return None
    key = resolved(value.key)
    parts = (
        [resolved(item) for item in key.items]
        if isinstance(key, Collection) and key.kind == "tuple"
        else [key]
    )
    found: list[Sense | None] = []
    rest = list(axes)
    for part in parts:
        if isinstance(part, Const) and part.value is Ellipsis:
            return None
        if isinstance(part, Const) and part.value is None:
            found.append(None)
        elif not rest:
            return None
        elif isinstance(constant(part), int):
            rest.pop(0)
        else:
            found.append(rest.pop(0))
    return (*found, *rest)
