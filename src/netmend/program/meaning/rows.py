"""Which rows a value holds: followed through tables, arrays, data sets and conversions to what they were read from."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Instance,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import SPLIT, complements, same_numbers
from netmend.program.meaning.loaders import drawn
from netmend.program.meaning.operations import parts_of, reached

LOCATORS = ("iloc", "loc", "at", "iat")
# Methods that give some of the rows; those that only leave out incomplete or doubled rows are not among them.
PICKING = frozenset(
    ("head", "tail", "sample", "query", "filter", "nlargest", "nsmallest", "get_group", "limit", "slice", "take", "truncate", "where_rows")
)  # fmt: skip
# Calls of several arrays that give as many back, in order: `X, y = shuffle(X, y)`.
_EACH = ("sklearn.utils.shuffle", "sklearn.utils.resample")
_OF_ARGUMENT = frozenset(
    ("transform", "fit_transform", "inverse_transform", "predict", "fit_resample", "fit_sample")
)
# Calls whose result has other rows than what they are given.
_NO_ROWS = frozenset(
    ("len", "range", "print", "set", "sorted", "enumerate", "zeros_like", "ones_like", "empty_like", "full_like",
     "rand_like", "randn_like", "randint_like", "zeros", "ones", "full", "empty", "arange", "randperm", "permutation", "argsort", "unique",
     "corrcoef", "topk")
)  # fmt: skip
_NO_ROWS_OF_METHODS = frozenset(("argsort", "unique", "corr", "corrwith", "nunique", "topk", "value_counts"))


def made_of(program: Program, value: Value | None, until: int | None = None) -> Iterator[Value]:
    """Everything a value is computed from, with the keys that pick from it and what was stored into tables and arrays (before an event)."""
    stored = _stored(program)

    def parts(part: Value) -> Iterator[Value]:
        yield from parts_of(part)
        if isinstance(part, Item):
            yield part.key
        elif isinstance(part, Instance):
            yield from part.attributes.values()
            yield from part.arguments[0]
            yield from part.arguments[1].values()
        for event in stored.get(id(part), ()):
            if until is None or event.order < until:
                yield event.value

    return reached(value, parts)


def columns_stored(program: Program, table: Value) -> list[StoreEvent]:
    """What is stored into a table's columns or rows, in order."""
    return _stored(program).get(id(table), [])


@once
def _stored(program: Program) -> dict[int, list[StoreEvent]]:
    found: dict[int, list[StoreEvent]] = {}
    for event in program.stores:
        base = resolved(event.target.base)
        if base is None or isinstance(base, Instance):
            continue
        if isinstance(base, Attribute) and base.name in LOCATORS:
            base = resolved(base.base)
        held = same_numbers(base)
        for owner in {id(base): base, id(held): held}:
            found.setdefault(owner, []).append(event)
    return found


def carried(program: Program, value: Value) -> Iterator[Value]:
    """The values whose rows a value holds, one step back."""
    if isinstance(value, Call):
        if value.result is not None:
            yield value.result
        elif value.method in _OF_ARGUMENT and value.args:
            yield value.args[0]
        elif value.method and not isinstance(resolved(value.receiver), Name):
            if value.receiver is not None and value.method not in _NO_ROWS_OF_METHODS:
                yield value.receiver
        elif value.qualified.rpartition(".")[2] not in _NO_ROWS:
            yield from value.args[:1]
    elif isinstance(value, Item):
        yield from _of_item(program, value)
    elif isinstance(value, Attribute):
        yield value.base
    elif isinstance(value, Operation):
        if value.operator != "slice":
            yield from (part for part in value.operands if not isinstance(part, Const))
    elif isinstance(value, Either):
        yield from value.options
    elif isinstance(value, Collection):
        yield from value.items
    elif isinstance(value, Element):
        yield value.iterable


def _of_item(program: Program, item: Item) -> Iterator[Value]:
    sample = drawn(program, item)
    if sample is not None:
        yield sample
        return
    base, place = resolved(item.base), constant(item.key)
    if isinstance(base, Call) and isinstance(place, int):
        if base.qualified == SPLIT and place // 2 < len(base.args):
            yield base.args[place // 2]
            return
        if (base.qualified in _EACH or base.method in ("fit_resample", "fit_sample")) and place < len(
            base.args
        ):
            yield base.args[place]
            return
    yield item.base


def rows_of(program: Program, value: Value | None) -> list[Value]:
    """A value and all whose rows it holds, nearest first."""
    return list(reached(value, lambda part: carried(program, part), 400))


def picks_rows(value: Value) -> bool:
    """Does a value hold only some of the rows of what it is taken from?"""
    if isinstance(value, Call):
        return value.qualified == SPLIT or (value.method in PICKING and value.result is None)
    return isinstance(value, Item) and is_row_key(value)


def is_row_key(item: Item) -> bool:
    """`x[:n]`, `x[rows]`, `x[mask]`; not columns, `x[:, 2]`, `df["a"]`, nor an answer's part."""
    key = resolved(item.key)
    if isinstance(key, Collection) and key.kind == "tuple" and key.items:
        key = resolved(key.items[0])
    base = resolved(item.base)
    if isinstance(key, Const):
        return isinstance(base, Call) and base.qualified == SPLIT
    if isinstance(key, Operation) and key.operator == "slice":
        return any(not (isinstance(bound, Const) and bound.value is None) for bound in key.operands[:2])
    if isinstance(key, Collection):  # a list of names of columns
        return isinstance(base, Attribute) and base.name == "iloc"
    return not (isinstance(base, Attribute) and base.name == "columns") and not _names_columns(key)


def _names_columns(key: Value) -> bool:
    """`df[list(names)]`, `df[frame.columns]`, `df[best.index]` name columns."""
    if isinstance(key, Attribute):
        return key.name in ("columns", "index")
    if isinstance(key, Item):
        return _names_columns(resolved(key.base)) or isinstance(resolved(key.base), Collection)
    if isinstance(key, Call):
        if key.qualified in ("list", "sorted", "set", "tuple") and key.args:
            return True
        if key.method in ("tolist", "to_list", "drop", "difference") and key.receiver is not None:
            return _names_columns(resolved(key.receiver))
        return key.method in ("keys", "get_feature_names_out", "select_dtypes")
    return (
        isinstance(key, Operation)
        and key.operator in ("+", "-")
        and any(
            isinstance(resolved(part), Collection) or _names_columns(resolved(part)) for part in key.operands
        )
    )


def holds_all(program: Program, data: Value, parted: Value) -> bool:
    """Does `data` hold the rows that `parted` is split from, those that will be evaluated among them?"""
    whole = {id(part) for part in rows_of(program, parted)}
    own = rows_of(program, data)
    if any(picks_rows(part) and (id(part) not in whole or is_part(program, part)) for part in own):
        return False
    return any(id(part) in whole and not isinstance(part, Const | Name) for part in own)


def is_part(program: Program, value: Value) -> bool:
    """A part of an earlier split, or a run of rows whose rest is another part; what was left out at reading is none."""
    if isinstance(value, Call):
        return value.qualified == SPLIT
    if not isinstance(value, Item):
        return False
    base = resolved(value.base)
    if isinstance(base, Call) and base.qualified == SPLIT:
        return True
    key = resolved(value.key)
    if isinstance(key, Collection) and key.items:
        key = resolved(key.items[0])
    return id(value) in _cut_apart(program) or any(
        isinstance(part, Call) and part.method == "split" for part in reached(key, parts_of, 200)
    )


@once
def _cut_apart(program: Program) -> frozenset[int]:
    return frozenset(id(cut.item) for pair in complements(program) for cut in pair if cut.item is not None)
