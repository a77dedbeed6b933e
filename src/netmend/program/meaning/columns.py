"""Tables as the text tells of them: which table one is taken from, what is stored in a column, which columns are picked."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from netmend.library.series import AT_THE_ROW, SUMMARIES
from netmend.program.engine.history import DELETE
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Either,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.offsets import key_of, name_of
from netmend.program.meaning.operations import parts_of

_KEEPS = AT_THE_ROW | {
    "groupby", "group_by", "rolling", "resample", "select", "with_columns", "with_column", "assign", "drop", "iterrows", "itertuples", "sample",
    "expanding", "ewm", "nlargest", "pop", "set_flags", "groupby_dynamic", "slice", "eval", "limit",
}  # fmt: skip
_JOINS = frozenset(("merge", "join", "join_asof", "merge_asof", "merge_ordered"))
_MADE_HERE = frozenset(("with_columns", "with_column", "assign", "select"))
_OWN = frozenset(
    ("values", "shape", "index", "columns", "iloc", "loc", "dt", "str", "size", "T", "iat", "at", "dtypes", "dtype", "cat", "name", "height", "width",
     "plot", "empty", "ndim", "array")
)  # fmt: skip
_MOST = 60  # tables that one is traced back through


@dataclass(frozen=True)
class Column:
    """A column of a table. `value`: what is stored in it; None where it is as it was read."""

    name: str  # "" where it is not written out
    key: Hashable
    table: Value  # that it was stored in, or read from
    value: Value | None
    node: ast.AST | None
    order: int = 0  # when it was stored


@once
def _stored(program: Program) -> dict[tuple[int, Hashable], list[Column]]:
    """What is stored in columns of tables, in order, by table and name."""
    found: dict[tuple[int, Hashable], list[Column]] = {}
    for event in program.stores:
        target = event.target
        if target.key is None or target.base is None:
            continue
        table, keys = resolved(target.base), [target.key]
        if isinstance(table, Attribute) and table.name in ("loc", "at"):
            table = resolved(table.base)
            whole = resolved(target.key)
            keys = list(whole.items[1:]) if isinstance(whole, Collection) else []
        if isinstance(table, Collection) or not keys or not _is_name(keys[0]):
            continue
        key = key_of(keys[0])
        column = Column(name_of(keys[0]), key, table, event.value, event.node, event.order)
        found.setdefault((id(table), key), []).append(column)
    return found


def _is_name(key: Value) -> bool:
    """May a key name one column: a text, or what is not known to be a place or rows?"""
    key = resolved(key)
    if isinstance(key, Const):
        return isinstance(key.value, str)
    if isinstance(key, Operation):
        return key.operator in ("format", "+", "%")
    return not isinstance(key, Collection | Call | Either)


def taken_from(table: Value) -> tuple[Value, ...]:
    """The tables whose columns a table has: before a filter, both sides of a join, all blocks that are set side by side."""
    table = resolved(table)
    if isinstance(table, Either):
        return table.options
    if isinstance(table, Item) and not _is_name(table.key):
        return (table.base,)
    if isinstance(table, Attribute) and table.name in ("loc", "iloc", "values", "str"):
        return (table.base,)
    if not isinstance(table, Call):
        return ()
    name = table.method or table.qualified.rpartition(".")[2]
    if name in _JOINS:
        sides = [*([table.receiver] if table.method and table.receiver is not None else []), *table.args]
        return tuple(
            [
                *sides,
                *(table.keywords[side] for side in ("left", "right", "other") if side in table.keywords),
            ][:2]
        )
    if table.method in _KEEPS and table.receiver is not None:
        return (table.receiver,)
    if name == "concat" and table.args:
        blocks = resolved(table.args[0])
        return tuple(blocks.items) if isinstance(blocks, Collection) else ()
    if name in ("DataFrame", "from_pandas", "LazyFrame") and table.args:
        return table.args[:1]
    return ()


def tables_behind(table: Value) -> Iterator[Value]:
    """A table and those it is taken from, nearest first."""
    waiting: list[Value] = [resolved(table)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        current = waiting.pop(0)
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting.extend(resolved(value) for value in taken_from(current))


@once
def _first_used(program: Program) -> dict[int, int]:
    """When each value first takes part in something that happens."""
    found: dict[int, int] = {}
    for event in program.events:
        waiting = [event.value]
        while waiting:
            value = waiting.pop()
            if id(value) not in found:
                found[id(value)] = event.order
                waiting.extend(parts_of(value))
    return found


def column(
    program: Program,
    table: Value,
    key: Value,
    entered: frozenset[int] = frozenset(),
    use: Value | None = None,
) -> Column:
    """The column of a name, as it was when `use` read it. `entered`: values that are being read: what is stored there is older."""
    wanted, last = key_of(key), resolved(table)
    until = _first_used(program).get(id(use))
    name = name_of(key)
    for current in tables_behind(table):
        for column in reversed(list(_made_in(program, current, wanted))):
            is_later = until is not None and column.order >= until
            if column.value is not None and id(column.value) not in entered and not is_later:
                return column
        if not taken_from(current) and _is_first(table, current):
            last = current
    summary = _summary_called(program, table, name) if name else None
    return Column(name, wanted, last, summary, None)


def _summary_called(program: Program, table: Value, name: str) -> Value | None:
    """A summary on the other side of a join whose column is given this name on the way: `.mean().rename("level")`."""
    way = list(tables_behind(table))
    summary = next((step for step in way if isinstance(step, Call) and step.method in SUMMARIES), None)
    if summary is None:
        return None
    labels: list[str] = []
    for step in way:
        if isinstance(step, Call) and step.method in (
            *_JOINS,
            "reset_index",
            "rename",
            "to_frame",
            "add_suffix",
            "agg",
        ):
            labels += [label for given in step.given for label in written_names(program, given)]
            labels += step.keywords if step is summary else ()
        labels += [
            label
            for event in program.stores
            if event.target.name == "columns" and resolved(event.target.base) is step
            for label in written_names(program, event.value)
        ]
    is_called = name in labels or any(label.startswith("_") and name.endswith(label) for label in labels)
    return summary if is_called else None


def _is_first(table: Value, root: Value) -> bool:
    """Is it what the table begins as, on the left side of every join?"""
    current = resolved(table)
    for _ in range(_MOST):
        before = taken_from(current)
        if not before:
            return current is root
        current = resolved(before[0])
    return False


def _made_in(program: Program, table: Value, wanted: Hashable | None) -> Iterator[Column]:
    """Columns that are made in this very table: stored in it, or written out where it is made; all, or those of one name."""
    for (owner, key), columns in _stored(program).items():
        if owner == id(table) and wanted in (None, key):
            yield from columns
    if isinstance(table, Collection) and table.keys is not None:
        for key, value in zip(table.keys, table.items, strict=False):
            if key is not None and wanted in (None, key_of(key)):
                yield Column(name_of(key), key_of(key), table, value, value.node)
    if isinstance(table, Call) and table.method in _MADE_HERE:
        for name, value in table.keywords.items():
            if wanted in (None, ("const", name)):
                yield Column(name, ("const", name), table, value, value.node)
        for expression in _spread(table.args):
            label = output_name(expression)
            if label is not None and wanted in (None, key_of(label)):
                yield Column(name_of(label), key_of(label), table, expression, expression.node)


def _spread(values: tuple[Value, ...]) -> Iterator[Value]:
    for value in values:
        value = resolved(value)
        if isinstance(value, Collection) and value.kind != "dict":
            yield from map(resolved, value.items)
        elif isinstance(value, Element):
            yield from _spread((value.iterable,))
        else:
            yield value


def output_name(expression: Value) -> Value | None:
    """The name of a polars expression's column: its last alias, else that of the column it begins with."""
    current: Value | None = resolved(expression)
    while isinstance(current, Call):
        if current.method in ("alias", "name") and current.args:
            return current.args[0]
        if current.qualified in ("polars.col", "polars.column") and current.args:
            return current.args[0]
        current = resolved(current.receiver) if current.receiver is not None else None
    return None


def columns(program: Program, table: Value) -> Iterator[Column]:
    """Columns that the program makes in a table, or in those it is taken from, each once, and summaries that are joined to it."""
    seen: set[Hashable] = set()
    left_out: set[str] = set()
    for current in tables_behind(table):
        left_out |= set(left_away(program, current))
        for column in reversed(list(_made_in(program, current, None))):
            if column.key not in seen and column.name not in left_out:
                seen.add(column.key)
                yield column
        if isinstance(current, Call) and current.method in SUMMARIES:
            yield Column("", ("value", id(current)), current, current, current.node)


def left_away(program: Program, table: Value) -> Iterator[str]:
    """Names of columns that a step leaves away: `drop(columns=[…])`, `df[[c for c in df.columns if c != "y"]]`."""
    if isinstance(table, Call) and table.method in ("drop", "pop"):
        for given in (*table.args, *table.keywords.values()):
            yield from written_names(program, given)
    if isinstance(table, Item):
        for key in _column_keys(table.key):
            if is_open_list(key):
                yield from _unwanted(program, key)
    for event in program.methods_of("pop", "drop"):
        call = event.call
        is_taken_out = call.method == "pop" or constant(call.keywords.get("inplace")) is True
        if is_taken_out and resolved(call.receiver) is table:
            for given in call.given:
                yield from written_names(program, given)
    for deleted in program.events:
        item = resolved(deleted.value)
        if deleted.kind == DELETE and isinstance(item, Item) and resolved(item.base) is table:
            yield from written_names(program, item.key)


def _column_keys(key: Value) -> list[Value]:
    """The part of a key that picks columns: of `df[key]` and `df.loc[rows, key]`."""
    key = resolved(key)
    if isinstance(key, Collection) and key.kind == "tuple":
        return [resolved(part) for part in key.items[1:]]
    return [key]


def is_open_list(key: Value) -> bool:
    """Columns picked by a comprehension over all columns, or by what is left of them."""
    return (isinstance(key, Collection) and key.repeated) or (
        isinstance(key, Call) and key.method in ("difference", "drop")
    )


def _unwanted(program: Program, key: Value) -> Iterator[str]:
    if isinstance(key, Call):
        for given in key.args:
            yield from written_names(program, given)
    node = key.node
    for generator in getattr(node, "generators", ()):
        for condition in generator.ifs:
            for part in ast.walk(condition):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value
                elif isinstance(part, ast.Name):
                    yield from _names_stored(program, part.id)


def _names_stored(program: Program, variable: str) -> Iterator[str]:
    for event in program.stores:
        if event.target.name == variable:
            yield from written_names(program, event.value)


def written_names(program: Program, value: Value) -> Iterator[str]:
    """Names that are written out in a value: one, or a list of them."""
    value = resolved(value)
    if isinstance(value, Const) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, Collection):
        for item in value.items:
            yield from written_names(program, item)
    elif isinstance(value, Operation) and value.operator == "+":
        for operand in value.operands:
            yield from written_names(program, operand)


def picked(key: Value) -> list[Value] | None:
    """The columns that a key picks, where all of them are written out; None where they are not."""
    keys = _column_keys(key)
    if len(keys) != 1:
        return None
    return _written_out(keys[0])


def _written_out(value: Value) -> list[Value] | None:
    value = resolved(value)
    if isinstance(value, Operation) and value.operator == "+":
        parts = [_written_out(operand) for operand in value.operands]
        return None if None in parts else [name for part in parts if part is not None for name in part]
    if not isinstance(value, Collection) or value.open or value.repeated or value.kind == "dict":
        return None
    return list(value.items) if all(isinstance(constant(item), str) for item in value.items) else None


def is_column_access(value: Value) -> bool:
    """`df.price`, where a table is known to stand before the dot."""
    if not isinstance(value, Attribute) or value.name in _OWN:
        return False
    return any(
        isinstance(table, Call)
        and (table.qualified.startswith(("pandas.", "polars.")) or table.method in _KEEPS - {"drop"})
        for table in tables_behind(value.base)
    )
