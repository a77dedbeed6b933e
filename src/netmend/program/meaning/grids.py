"""Grids: along which axis of an array numbers count, `arange(h)[:, None]` down and `arange(w)[None]` across."""

from __future__ import annotations

from netmend.library.pixels import ARANGES, MESHES
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.directions import ACROSS, ARITHMETIC, DOWN, KEEPS_NUMBERS, MOST_DEEP, is_whole
from netmend.program.meaning.operations import behind


def grid(value: Value | None, deep: int = 0) -> str | None:
    """Along which axis of an array the numbers of a grid count: `arange(h)[:, None]` counts down."""
    value = resolved(value)
    if value is None or deep > MOST_DEEP:
        return None
    if isinstance(value, Operation) and value.operator in ARITHMETIC:
        found = [grid(part, deep + 1) for part in value.operands]
        return next(iter(found)) if found[0] and not any(found[1:]) else None
    if isinstance(value, Item):
        return _of_mesh(value) or (_of_broadcast(value.key) if _counts(value.base) else None)
    if not isinstance(value, Call):
        return None
    if value.method in KEEPS_NUMBERS:
        return grid(value.receiver, deep + 1)
    if not _counts(value.receiver):
        return None
    sizes = [constant(part) for part in value.args]
    if len(sizes) == 1 and isinstance(sizes[0], tuple):
        sizes = list(sizes[0])
    if value.method in ("reshape", "view") and sizes.count(1) == len(sizes) - 1:
        last = len(sizes) - 1 - next(place for place, size in enumerate(sizes) if size != 1)
        return {0: ACROSS, 1: DOWN}.get(last) if len(sizes) > 1 else None
    if value.method == "unsqueeze" and len(sizes) == 1:
        return {0: ACROSS, 1: DOWN, -1: DOWN, -2: ACROSS}.get(sizes[0]) if isinstance(sizes[0], int) else None
    return None


def _counts(value: Value | None) -> bool:
    def before(part: Value) -> Value | None:
        return part.receiver if isinstance(part, Call) and part.method in KEEPS_NUMBERS else None

    made = behind(value, before)
    return isinstance(made, Call) and made.qualified in ARANGES


def _of_broadcast(key: Value) -> str | None:
    """`[:, None]` counts down, `[None, :]` and `[None]` across."""
    key = resolved(key)
    parts = [resolved(item) for item in key.items] if isinstance(key, Collection) else [key]
    marks = [
        "n"
        if (isinstance(part, Const) and part.value is None) or _is_newaxis(part)
        else ":"
        if is_whole(part)
        else "?"
        for part in parts
    ]
    text = "".join(marks)
    if "?" in text or text.count(":") > 1 or "n" not in text:
        return None
    text = text if ":" in text else text + ":"
    return {0: ACROSS, 1: DOWN}.get(len(text) - 1 - text.index(":"))


def _is_newaxis(part: Value) -> bool:
    return isinstance(part, Name) and part.qualified == "numpy.newaxis"


def _of_mesh(value: Item) -> str | None:
    place = constant(value.key)
    made = resolved(value.base)
    if place not in (0, 1):
        return None
    if isinstance(made, Call) and made.qualified in MESHES:
        order = constant(made.keywords.get("indexing"), MESHES[made.qualified])
        return {"xy": (ACROSS, DOWN), "ij": (DOWN, ACROSS)}.get(order, (None, None))[place]
    if isinstance(made, Call) and made.qualified == "numpy.indices":
        return (DOWN, ACROSS)[place]
    is_grid = isinstance(made, Item) and getattr(made.base, "qualified", "") in ("numpy.mgrid", "numpy.ogrid")
    return (DOWN, ACROSS)[place] if is_grid else None
