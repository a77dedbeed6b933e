"""Which rows of a series the rows of an array or a column are computed from: `shift`, `rolling`, windows and filters, added up from the text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Function,
    Instance,
    Item,
    Name,
    Operation,
    Param,
    Unknown,
    Value,
    resolved,
)
from netmend.program.meaning.arrays import split_from
from netmend.program.meaning.batches import part_of_batch
from netmend.program.meaning.columns import (
    Column,
    column,
    columns,
    is_column_access,
    is_open_list,
    picked,
    tables_behind,
)
from netmend.program.meaning.models import is_module
from netmend.program.meaning.offsets import key_of
from netmend.program.meaning.reach import (
    ALL,
    MASKS,
    Reach,
    Reaches,
    axis_cut,
    is_run,
    is_whole,
    rows_cut,
    samples,
)
from netmend.program.meaning.reaches_of_calls import followed, function_reaches, method_reaches
from netmend.program.meaning.series_steps import (
    counters,
    in_order,
)

_DEEPEST = 60


class Reader:
    """Reads reaches of values, each once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[int, tuple[Value, Reaches]] = {}
        self.entered: list[int] = []

    def read(self, value: Value | None) -> Reaches:
        value = resolved(value)
        if value is None or isinstance(value, Const | Function):
            return ()
        kept = self.known.get(id(value))
        if kept is not None:
            return kept[1]
        if id(value) in self.entered or len(self.entered) > _DEEPEST:
            return ()
        self.entered.append(id(value))
        try:
            found = _once_each(self._read(value))
        finally:
            self.entered.pop()
        if not self.entered or id(value) not in self.entered:
            self.known[id(value)] = (value, found)
        return found

    def _read(self, value: Value) -> Iterable[Reach]:
        if isinstance(value, Call):
            return self._call(value)
        if isinstance(value, Item):
            return self._item(value)
        if isinstance(value, Attribute):
            return self._attribute(value)
        if isinstance(value, Operation):
            if value.operator in ("format", "slice"):
                return ()
            return self.all(value.operands)
        if isinstance(value, Either):
            return self.all(option for option in value.options if not isinstance(option, Unknown))
        if isinstance(value, Collection):
            return self._collection(value)
        if isinstance(value, Element):
            return self._element(value)
        if isinstance(value, Param):
            return (self.root(value),)
        return ()

    def all(self, values: Iterable[Value]) -> Reaches:
        return tuple(reach for value in values for reach in self.read(value))

    def root(self, value: Value, places: Hashable = ALL) -> Reach:
        return Reach(("array", key_of(value)), places)

    # columns

    def column(self, table: Value, key: Value, use: Value | None = None) -> Reaches:
        found = column(self.program, table, key, frozenset(self.entered), use)
        if found.value is None:
            reaches: Reaches = (Reach(("column", id(found.table), found.key)),)
        else:
            reaches = self._made(found)
        return tuple(replace(reach, name=found.name) for reach in reaches)

    def _made(self, made: Column) -> Reaches:
        if (
            isinstance(made.value, Function)
            and isinstance(made.table, Call)
            and made.table.receiver is not None
        ):
            return self.read(followed(self, made.value, made.table.receiver))  # assign(a=lambda table: …)
        return self.read(made.value)

    def table(self, value: Value) -> Iterator[Reach]:
        """Every column that the program makes in a table, and the table as an array."""
        for made in columns(self.program, value):
            if made.value is not None and id(made.value) not in self.entered:
                for reach in self._made(made):
                    yield replace(reach, name=made.name)
        for current in tables_behind(value):
            last = current
            if isinstance(current, Item):
                last = current
                break
        yield self.root(last)

    # items

    def _item(self, item: Item) -> Iterable[Reach]:
        part = part_of_batch(self.program, item)
        if part is not None:
            found = self.read(part.value)
            return found if part.rows else samples(found)
        whole = split_from(item)
        if whole is not None:
            return self.read(whole)
        base, key = resolved(item.base), resolved(item.key)
        if isinstance(base, Name):
            return self.all(key.items if isinstance(key, Collection) else (key,))  # np.c_[a, b]
        if isinstance(base, Attribute) and base.name in ("loc", "iloc", "at", "iat"):
            rows = key.items if isinstance(key, Collection) and key.kind == "tuple" else [key]
            return self._picked_rows(resolved(base.base), rows, by_place=base.name == "iloc")
        if isinstance(key, Const) and isinstance(key.value, str):
            return self.column(base, key, item)
        names = picked(key)
        if names:
            return [self.root(item), *(reach for name in names for reach in self.column(base, name, item))]
        if isinstance(key, Collection | Call) and is_open_list(key):
            return tuple(self.table(item))
        if isinstance(key, Collection) and key.kind == "tuple":
            return self._cut(item, base, key.items)
        if (
            isinstance(key, Item | Attribute | Param | Operation)
            and self._is_table(base)
            and not _is_rows(key)
        ):
            return self.column(base, key, item)
        return self._cut(item, base, [key])

    def _is_table(self, base: Value) -> bool:
        made = (table for table in tables_behind(base) if isinstance(table, Call))
        return any(
            table.qualified.startswith(("pandas.", "polars.")) or table.method in ("groupby", "group_by")
            for table in made
        ) or isinstance(base, Param)

    def _picked_rows(self, table: Value, keys: list[Value], *, by_place: bool) -> Reaches:
        rows, others = keys[0], keys[1:]
        if others and not by_place:
            found = self.read(Item(table, others[0], others[0].node))
        else:
            found = self.read(table)
        if not by_place:
            return found
        cuts = (rows_cut(reach, resolved(rows)) for reach in found)
        for key in others:
            cuts = (axis_cut(cut, resolved(key)) if cut is not None else None for cut in cuts)
        return tuple(cut for cut in cuts if cut is not None)

    def _cut(self, item: Item, base: Value, keys: list[Value]) -> Iterable[Reach]:
        """`x[a:b]`, `x[i]`, `x[:, -1]`, `x[mask]`."""
        found = self.read(base)
        rows, others = resolved(keys[0]), [resolved(key) for key in keys[1:]]
        if len(others) == 1 and is_whole(rows) and is_run(others[0]):
            rows, others = others[0], []  # channels first
        for reach in found:
            cut = rows_cut(reach, rows)
            for place, key in enumerate(others):
                cut = axis_cut(cut, key) if place == 0 and cut is not None else cut
            if cut is not None:
                yield replace(cut, cut=cut.cut or item.node)

    def _attribute(self, value: Attribute) -> Iterable[Reach]:
        if value.name in (
            "values",
            "array",
            "T",
            "dt",
            "str",
            "cat",
            "real",
            "trend",
            "resid",
            "data",
            "codes",
            "mT",
        ):
            return self.read(value.base)
        if isinstance(resolved(value.base), Attribute) and getattr(resolved(value.base), "name", "") == "dt":
            return self.read(value.base)
        if is_column_access(value):
            return self.column(value.base, Const(value.name), value)
        if value.name in ("index", "shape", "columns", "size", "loc", "iloc"):
            return ()
        return (self.root(value),)

    def _element(self, value: Element) -> Iterable[Reach]:
        iterable = resolved(value.iterable)
        if isinstance(iterable, Call) and iterable.qualified == "range":
            return ()
        return (self.root(value),)

    def _collection(self, value: Collection) -> Iterable[Reach]:
        if value.kind == "dict" or not (value.open or value.repeated):
            return self.all(value.items)
        counted = counters(value)
        return tuple(in_order(reach, counted) for reach in samples(self.all(value.items)))

    # calls

    def _call(self, call: Call) -> Iterable[Reach]:
        if is_module(call.function) or isinstance(resolved(call.function), Instance):
            return ()
        name = call.method or call.qualified.rpartition(".")[2]
        if call.qualified:
            return function_reaches(self, call, name)
        if call.receiver is None:
            return (self.root(call),)
        return method_reaches(self, call, name)


def _is_rows(key: Value) -> bool:
    """Does a key pick rows rather than a column?"""
    if isinstance(key, Operation):
        return key.operator in MASKS or key.operator in ("slice", "+", "-", "*") or key.operator == "neg"
    return isinstance(key, Element)


def _once_each(reaches: Iterable[Reach]) -> Reaches:
    return tuple(dict.fromkeys(reaches))


@once
def reader(program: Program) -> Reader:
    return Reader(program)
