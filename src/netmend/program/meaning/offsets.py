"""Places in a series relative to a row, as far as the text tells: numbers, and symbols for what is the same wherever it is written."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Const,
    Element,
    Item,
    Name,
    Operation,
    Param,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.batches import INDEX

ROW = "row"  # in the key of what differs from row to row
_MOST_NESTED = 8


@dataclass(frozen=True)
class Offset:
    """A number of rows: `number` plus each symbol so many times."""

    number: int
    symbols: frozenset[tuple[Hashable, int]] = frozenset()

    @cached_property
    def _counts(self) -> dict[Hashable, int]:
        return dict(self.symbols)

    def __add__(self, other: Offset | int) -> Offset:
        if isinstance(other, int):
            return Offset(self.number + other, self.symbols)
        counts = dict(self.symbols)
        for key, count in other.symbols:
            counts[key] = counts.get(key, 0) + count
        left = frozenset((key, count) for key, count in counts.items() if count)
        return Offset(self.number + other.number, left)

    def __neg__(self) -> Offset:
        return Offset(-self.number, frozenset((key, -count) for key, count in self.symbols))

    def __sub__(self, other: Offset | int) -> Offset:
        return self + (-other)

    def times(self, factor: int) -> Offset:
        return Offset(
            self.number * factor,
            frozenset((key, count * factor) for key, count in self.symbols if factor),
        )

    @property
    def is_number(self) -> bool:
        return not self.symbols

    @property
    def row(self) -> Hashable | None:
        """The symbol that differs from row to row, if there is one, counted once."""
        rows = [(key, count) for key, count in self.symbols if is_of_row(key)]
        return rows[0][0] if len(rows) == 1 and rows[0][1] == 1 else None

    def count(self, key: Hashable) -> int:
        return self._counts.get(key, 0)

    def without(self, key: Hashable) -> Offset:
        return Offset(self.number, frozenset(pair for pair in self.symbols if pair[0] != key))

    def is_at_least(self, least: int) -> bool:
        """For certain, where every symbol stands for a length of one row or more; rows that do not cancel prove nothing."""
        if any(count < 0 or is_of_row(key) for key, count in self.symbols):
            return False
        return self.number + sum(count for _, count in self.symbols) >= least

    def is_at_most(self, most: int) -> bool:
        """Not proven to be more."""
        return not (self + -most).is_at_least(1)


ZERO = Offset(0)


def offset_of(value: Value | None) -> Offset | None:
    """What an index, a length or a lag stands for; None where it is no number at all."""
    value = resolved(value)
    if isinstance(value, Const):
        is_whole = isinstance(value.value, int) and not isinstance(value.value, bool)
        return Offset(int(value.value)) if is_whole else None
    if isinstance(value, Operation):
        parts = [offset_of(operand) for operand in value.operands]
        if value.operator == "neg" and parts[0] is not None:
            return -parts[0]
        if value.operator in ("+", "-", "*") and len(parts) == 2:
            one, other = parts
            if one is None or other is None:
                return None
            if value.operator == "+":
                return one + other
            if value.operator == "-":
                return one - other
            if one.is_number or other.is_number:
                return one.times(other.number) if other.is_number else other.times(one.number)
    if isinstance(value, Call) and value.qualified == "int" and len(value.args) == 1:
        return offset_of(value.args[0])
    if isinstance(value, Item):
        counted, place = run(value.base), offset_of(value.key)
        if counted is not None and place is not None and counted[1] is not None and counted[1].is_number:
            return counted[0] + place.times(counted[1].number)
    if value is None or isinstance(value, Collection):
        return None
    return Offset(0, frozenset([(key_of(value), 1)]))


def run(value: Value) -> tuple[Offset, Offset | None] | None:
    """Start and step of `range(a, b, step)`, `arange(…)`, `list(range(…))`; None for anything else."""
    value = resolved(value)
    if not isinstance(value, Call):
        return None
    name = value.qualified.rpartition(".")[2]
    if name in ("list", "tuple", "tqdm", "trange", "sorted") and name != "trange" and value.args:
        return run(value.args[0])
    if name not in ("range", "arange", "trange") or not value.args:
        return None
    start = offset_of(value.args[0]) if len(value.args) > 1 else ZERO
    step = offset_of(value.argument("step", 2)) if value.argument("step", 2) is not None else Offset(1)
    return None if start is None else (start, step)


def key_of(value: Value | None, depth: int = _MOST_NESTED) -> Hashable:
    """The same for two values that are written alike and mean the same."""
    value = resolved(value)
    if isinstance(value, Const):
        return ("const", value.value if isinstance(value.value, Hashable) else repr(value.value))
    if isinstance(value, Name):
        return ("name", value.qualified)
    if isinstance(value, Element) or (isinstance(value, Param) and value.name == INDEX):
        return (ROW, id(value))
    if depth:
        if isinstance(value, Attribute):
            return ("attribute", key_of(value.base, depth - 1), value.name)
        if isinstance(value, Item):
            return ("item", key_of(value.base, depth - 1), key_of(value.key, depth - 1))
        if isinstance(value, Operation) and value.operator != "format":
            return (value.operator, *(key_of(operand, depth - 1) for operand in value.operands))
        if isinstance(value, Call) and value.qualified in ("len", "int", "min", "max") and value.args:
            return (value.qualified, *(key_of(given, depth - 1) for given in value.args))
    return ("value", id(value))


def is_of_row(key: Hashable) -> bool:
    """Does a symbol differ from row to row: the counter of a loop, the index of a data set, what is picked by one?"""
    return isinstance(key, tuple) and (key[:1] == (ROW,) or any(is_of_row(part) for part in key))


def name_of(value: Value | None) -> str:
    """A column's name where it is written out."""
    found = constant(resolved(value))
    return found if isinstance(found, str) else ""
