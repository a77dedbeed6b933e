"""What a program learns to predict: the values and columns that its losses and splits take as targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Item,
    Name,
    Operation,
    Unknown,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.inputs_and_targets import learned
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import reached, walk
from netmend.program.meaning.partitions import partitions
from netmend.program.meaning.rows import LOCATORS, carried, rows_of
from netmend.program.meaning.tables import source_of, written_texts

_NO_COLUMNS = frozenset(
    (
        "values",
        "T",
        "str",
        "dt",
        "cat",
        "index",
        "columns",
        "shape",
        "iloc",
        "loc",
        "at",
        "iat",
        "plot",
        "data",
        "array",
    )
)


@dataclass(frozen=True)
class Targets:
    """Arrays by identity, columns of tables by name."""

    values: frozenset[int]
    columns: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.values or self.columns)

    def is_one(self, value: Value) -> bool:
        """Is a value the targets, all of them, or the column that holds them?"""
        return id(value) in self.values or column_of(value) in self.columns

    def within(self, values: Iterator[Value]) -> Value | None:
        return next((value for value in values if self.is_one(value)), None)


def column_of(value: Value | None) -> str | None:
    """The name of the one column that a value is: `df["a"]`, `df.a`, `df.pop("a")`, `df.loc[:, "a"]`, `pl.col("a")`."""
    if isinstance(value, Item):
        key, base = resolved(value.key), resolved(value.base)
        if isinstance(base, Attribute) and base.name in LOCATORS:
            if not isinstance(key, Collection) or len(key.items) != 2:
                return None
            key = resolved(key.items[1])
        text = constant(key)
        return text if isinstance(text, str) else None
    if isinstance(value, Attribute):
        known = value.name not in _NO_COLUMNS and source_of(value.base) is not None
        return value.name if known else None
    if isinstance(value, Call) and value.result is None and len(value.args) == 1:
        is_column = value.method in ("pop", "get_column") or value.qualified == "polars.col"
        text = constant(resolved(value.args[0])) if is_column else None
        return text if isinstance(text, str) else None
    return None


@once
def targets(program: Program) -> Targets:
    found: set[int] = set()
    columns: set[str] = set()

    def add(value: Value | None) -> None:
        for part in reached(value, lambda each: () if column_of(each) else carried(program, each), 200):
            name = column_of(part)
            if name:
                columns.add(name)
            if not isinstance(part, Const | Name | Unknown):
                found.add(id(part))

    for pair in learned(program):
        add(pair.target)
    for pair in learned(program):
        found -= {id(part) for value in pair.inputs for part in rows_of(program, value)}
    aims = frozenset(found)
    for partition in partitions(program):
        for value in partition.targets:
            add(value)
    for partition in partitions(program):
        for value in partition.inputs:
            if id(resolved(value)) not in aims:
                found -= {id(part) for part in rows_of(program, value)}
    return Targets(frozenset(found), frozenset(columns))


@once
def input_columns(program: Program) -> frozenset[str] | None:
    """The columns that reach a model, where they are written out; None where they are not."""
    found: set[str] = set()
    for use in loss_uses(program):
        written = [
            texts
            for part in rows_of(program, use.prediction)
            if isinstance(part, Item) and (texts := _list_of_names(part))
        ]
        if not written:
            return None
        found.update(text for texts in written for text in texts)
    return frozenset(found) or None


def _list_of_names(item: Item) -> tuple[str, ...]:
    key = resolved(item.key)
    if isinstance(key, Operation) and key.operator == "+":
        both = [written_texts(part) for part in key.operands]
        return (*both[0], *both[1]) if all(both) else ()
    return written_texts(key) if isinstance(key, Collection) and key.kind == "list" else ()


def names_within(value: Value | None) -> frozenset[str]:
    """The texts that are written anywhere in a value."""
    return frozenset(
        part.value for part in walk(value) if isinstance(part, Const) and isinstance(part.value, str)
    )
