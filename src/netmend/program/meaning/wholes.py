"""Where data come from, and whether they are all of a part: a table or an array as it was read, not one sample, group or window."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.operations import parts_of, reached, walk
from netmend.program.meaning.parts import written_out


def is_whole(data: Value) -> bool:
    """Is it a table, an array or a column of it as it was read or cut, and not one sample, group or window?"""
    line = roots(data)
    if any(isinstance(part, Call) and part.method in _OF_GROUPS for part in line):
        return False
    root = line[-1]
    if isinstance(root, Element):
        return written_out(root.iterable) is not None
    if not isinstance(root, Call):
        return False
    is_table = root.qualified.startswith(_TABLES)
    if any(isinstance(part, Item) and not _keeps_rows(part.key, is_table) for part in line):
        return False
    return not any(_is_of_loop(part) or _is_drawn(part) for part in reached(root, _with_keys))


_OF_GROUPS = frozenset(
    ("groupby", "group_by", "rolling", "expanding", "ewm", "apply", "over", "split", "unfold", "resample")
)
_DRAWING = frozenset(
    (
        "rand",
        "randn",
        "randint",
        "normal",
        "uniform",
        "standard_normal",
        "random",
        "integers",
        "arange",
        "linspace",
    )
)
_TABLES = ("pandas.", "polars.")


def _with_keys(value: Value) -> Iterator[Value]:
    yield from parts_of(value)
    if isinstance(value, Item):
        yield value.key


def part_names(data: Value | None) -> tuple[str, ...]:
    """The names of the parts that a loop runs over, where data are read by such a name: `for part in ("train", "test")`."""
    line = roots(data)
    root = line[-1] if line else None
    for given in root.given if isinstance(root, Call) else ():
        for part in walk(given):
            several = written_out(part.iterable) if isinstance(part, Element) else None
            names = [constant(item) for item in several.items] if several is not None else []
            if names and all(isinstance(name, str) for name in names):
                return tuple(names)
    return ()


def _is_of_loop(value: Value) -> bool:
    """One of many: a file of a folder, a sample of a batch. The parts that a program writes out are not many."""
    if isinstance(value, Element):
        return written_out(value.iterable) is None
    return isinstance(value, Param | Unknown)


def is_of_table(data: Value) -> bool:
    """Is it a column of a table, or such a table?"""
    root = roots(data)[-1]
    return isinstance(root, Call) and root.qualified.startswith(_TABLES)


def _is_drawn(value: Value) -> bool:
    """Made-up data."""
    return isinstance(value, Call) and (value.method or value.qualified.rpartition(".")[2]) in _DRAWING


def _keeps_rows(key: Value, is_table: bool) -> bool:
    key = resolved(key)
    if isinstance(key, Collection) and key.kind == "tuple" and key.items:
        return _keeps_rows(key.items[0], is_table)
    if isinstance(key, Const | Collection | Operation):
        return True
    if any(isinstance(part, Param | Unknown) for part in walk(key)):
        return False
    return is_table or isinstance(key, Call | Item)


def roots(value: Value | None) -> tuple[Value, ...]:
    """What a value is a part of, and that again, to the end: through columns, conversions and methods."""
    line: list[Value] = []
    while value is not None and len(line) < 40:
        value = same_numbers(value)
        line.append(value)
        if isinstance(value, Item | Attribute):
            value = value.base
        elif isinstance(value, Call) and not isinstance(value.receiver, Name):
            value = value.receiver
        else:
            break
    return tuple(line)


def same_data(one: Value | None, other: Value | None, depth: int = 40) -> bool:
    """Are two values made in the same way of the same things: of one file that is read twice, say?"""
    one, other = resolved(one), resolved(other)
    if one is other:
        return True
    if one is None or other is None or depth == 0 or type(one) is not type(other):
        return False
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    if isinstance(one, Name) and isinstance(other, Name):
        return one.qualified == other.qualified
    if isinstance(one, Attribute) and isinstance(other, Attribute) and one.name != other.name:
        return False
    if isinstance(one, Operation) and isinstance(other, Operation) and one.operator != other.operator:
        return False
    if isinstance(one, Param | Unknown | Instance):
        return False
    mine, its = list(_made_of(one)), list(_made_of(other))
    return (
        bool(mine)
        and len(mine) == len(its)
        and all(same_data(a, b, depth - 1) for a, b in zip(mine, its, strict=True))
    )


def _made_of(value: Value) -> Iterator[Value]:
    if isinstance(value, Call):
        yield value.function
        yield from value.given
    elif isinstance(value, Item):
        yield from (value.base, value.key)
    elif isinstance(value, Collection):
        yield from value.items
    else:
        yield from parts_of(value)


def same_key(one: Value | None, other: Value | None) -> bool:
    """Two constants that are equal, lists of such, or the same value."""
    one, other = resolved(one), resolved(other)
    if (
        isinstance(one, Collection)
        and isinstance(other, Collection)
        and one.items
        and not (one.open or other.open)
    ):
        return len(one.items) == len(other.items) and all(map(same_key, one.items, other.items))
    return one is other or (isinstance(one, Const) and isinstance(other, Const) and one.value == other.value)
