"""Dictionaries that are filled from one table and asked with keys of another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.library.row_calls import TEXT_READERS
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import Call, Collection, Const, Element, Item, Operation, Value, resolved
from netmend.program.meaning.operations import reached
from netmend.program.meaning.row_words import with_keys

Column = str | int  # by name or by place


@dataclass(frozen=True)
class Lookup:
    """Where a key is looked up: columns that the dictionary's keys and the key that is asked for are taken from."""

    node: ast.AST
    keys: frozenset[Column]
    asked: frozenset[Column]


@once
def lookups(program: Program) -> tuple[Lookup, ...]:
    """Look-ups that do not fail where a key is missing."""
    return tuple(
        Lookup(node, keys, asked)
        for table, key, node in _asked(program)
        if (asked := _columns(key)) and (keys := _keys(program, table))
    )


def _asked(program: Program) -> Iterator[tuple[Value, Value, ast.AST]]:
    for event in program.methods_of("get"):
        if event.call.args and event.call.receiver is not None:
            yield event.call.receiver, event.call.args[0], event.node
    seen: set[int] = set()
    for part in program.parts:
        test = getattr(part, "test", None)
        for value in reached(test, with_keys) if isinstance(test, Value) else ():
            if (
                isinstance(value, Operation)
                and value.operator in ("in", "not in")
                and len(value.operands) == 2
            ):
                node = value.node
                if node is not None and id(node) not in seen:
                    seen.add(id(node))
                    yield value.operands[1], value.operands[0], node


def _keys(program: Program, table: Value) -> frozenset[Column]:
    """The columns that a dictionary's keys are taken from."""
    table = resolved(table)
    found: set[Column] = set()
    if isinstance(table, Call) and table.qualified in ("dict", "collections.defaultdict"):
        for given in table.args:
            found |= _columns(given)
    if not isinstance(table, Collection | Call) or (isinstance(table, Collection) and table.kind != "dict"):
        return frozenset(found)
    for key in (table.keys or ()) if isinstance(table, Collection) else ():
        if key is not None:
            found |= _columns(key)
    for store in program.stores:
        if (
            store.target.key is not None
            and store.target.base is not None
            and resolved(store.target.base) is table
        ):
            found |= _columns(store.target.key)
    return frozenset(found)


def _columns(value: Value) -> frozenset[Column]:
    """The column of a row of text that a value is, as it stands in the file: what is spelled otherwise first is none."""
    part = resolved(value)
    if isinstance(part, Item) and isinstance(resolved(part.base), Element) and _is_row(resolved(part.base)):
        key = resolved(part.key)
        if isinstance(key, Const) and isinstance(key.value, str | int):
            return frozenset({key.value})
    return frozenset()


def _is_row(value: Value) -> bool:
    source = resolved(value.iterable) if isinstance(value, Element) else None
    return any(
        isinstance(part, Call) and part.qualified in TEXT_READERS for part in reached(source, with_keys)
    )
