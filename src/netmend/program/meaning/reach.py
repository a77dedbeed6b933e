"""Which rows of a series one row of a value is computed from, and what indices and slices leave of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from netmend.program.engine.values import Call, Collection, Const, Either, Operation, Param, Value, constant
from netmend.program.meaning.offsets import ROW, ZERO, Offset, is_of_row, key_of, offset_of

ALL = None  # columns of an array: all of them
SHIFTED, ROLLED, CENTRED, FILTERED, STATISTIC, BINNED, WINDOW = (
    "shifted",
    "rolled",
    "centred",
    "filtered",
    "statistic",
    "binned",
    "window",
)
FAR = Offset(10**9)


@dataclass(frozen=True)
class Reach:
    """Row r of a value is computed from rows `r + low` to `r + high` of a series, and with windows from `inner` times as many places on."""

    root: Hashable
    places: Hashable = ALL  # of the root array: which of its columns
    low: Offset = ZERO
    high: Offset = ZERO
    plain: Offset = ZERO  # `high` without filters that look at both sides
    inner: Offset | None = None  # the length of the window that each row holds
    is_series: bool = True  # its first axis is the series itself: a slice of it moves the rows
    rows: Offset | None = None  # how many there are, where a slice tells
    stride: Offset | None = (
        None  # rows of the series from one row of the value to the next, where it may not be one
    )
    how: str = ""  # what reaches furthest
    node: ast.AST | None = None  # where it does
    backwards: bool = False  # the series was turned round
    grouped: bool = False
    name: str = ""  # the column's in the table it stands in
    cut: ast.AST | None = None  # where rows or windows were last cut out

    def moved(self, by: Offset) -> Reach:
        by = -by if self.backwards else by
        return replace(self, low=self.low + by, high=self.high + by, plain=self.plain + by)

    def ahead(self, rows: Offset, how: str, node: ast.AST | None, *, filters: bool = False) -> Reach:
        """Reaching further ahead."""
        plain = self.plain if filters else self.plain + rows
        return replace(self, high=self.high + rows, plain=plain, how=how, node=node)

    @property
    def end(self) -> Offset:
        """The latest row that is looked at."""
        return self.high + self.inner - 1 if self.inner is not None else self.high

    @property
    def latest(self) -> Offset:
        """The same without filters."""
        return self.plain + self.inner - 1 if self.inner is not None else self.plain


Reaches = tuple[Reach, ...]


def as_sample(reach: Reach) -> Reach | None:
    """A value of its own for every row: the run of a series that was cut out is its window."""
    if not reach.is_series:
        return reach
    if reach.inner is not None or reach.rows is None:
        return None  # a whole series, or all windows of one
    return replace(reach, is_series=False, inner=reach.rows, rows=None, how=reach.how or WINDOW)


def samples(reaches: Iterable[Reach]) -> Reaches:
    return tuple(found for reach in reaches if (found := as_sample(reach)) is not None)


MASKS = frozenset(
    ("==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "~", "not", "in", "not in", "and", "or", "compare")
)


def rows_cut(reach: Reach, key: Value) -> Reach | None:
    """What is left of the first axis by one index."""
    if isinstance(key, Operation) and key.operator == "slice":
        return _sliced(opened(reach), key)
    if isinstance(key, Const):
        if not isinstance(key.value, int) or isinstance(key.value, bool):
            return reach  # None, ...
        return _point(opened(reach), Offset(key.value))
    if isinstance(key, Operation) and key.operator not in MASKS:
        at = offset_of(key)
        return _point(opened(reach), at) if at is not None else reach
    if (isinstance(key, Call) and key.qualified != "int") or isinstance(key, Operation | Collection | Either):
        return replace(reach, rows=None)  # a mask, or rows in some order
    at = offset_of(key)
    if at is None:
        return reach
    if not any(is_of_row(symbol) for symbol, _ in at.symbols) and not isinstance(key, Param):
        at = Offset(0, frozenset([((ROW, key_of(key)), 1)]))
    return _point(opened(reach), at)


def opened(reach: Reach) -> Reach:
    """What is indexed is an array: one that stood in a container is a series of its own."""
    if reach.is_series or reach.inner is not None:
        return reach
    return Reach(("within", reach.root, reach.low), grouped=reach.grouped, name=reach.name)


def _point(reach: Reach, at: Offset) -> Reach | None:
    if at.is_number and at.number < 0:
        length = reach.rows if reach.is_series else reach.inner
        if length is None:
            return None
        at = length + at
    low, high, plain = reach.low + at, reach.high + at, reach.plain + at
    if reach.is_series:
        return replace(reach, low=low, high=high, plain=plain, is_series=False, rows=None)
    return replace(reach, low=low, high=high, plain=plain, inner=None)


def _sliced(reach: Reach, key: Operation) -> Reach | None:
    lower, upper, step = key.operands
    length = reach.rows if reach.is_series else reach.inner
    if constant(step) == -1 and constant(lower) is None and constant(upper) is None:
        return replace(reach, backwards=not reach.backwards)
    start = ZERO if constant(lower, 0) is None else _from_front(offset_of(lower), length)
    end = length if constant(upper, 0) is None else _from_front(offset_of(upper), length)
    if start is None:
        return None
    size = end - start if end is not None else None
    if reach.is_series:
        by = -start if reach.backwards else start
        low, high, plain = reach.low + by, reach.high + by, reach.plain + by
        stride = offset_of(step) if constant(step, 0) is not None else reach.stride
        return replace(reach, low=low, high=high, plain=plain, rows=size, stride=stride)
    if size is None:
        return None
    return replace(
        reach, low=reach.low + start, high=reach.high + start, plain=reach.plain + start, inner=size
    )


def _from_front(at: Offset | None, length: Offset | None) -> Offset | None:
    """An index counted from the front; None where it counts from an end that is not known."""
    is_from_end = at is not None and not at.is_at_least(0) and (-at).is_at_least(1)
    if at is None or not is_from_end:
        return at
    return None if length is None else length + at


def axis_cut(reach: Reach, key: Value) -> Reach | None:
    """What is left of the second axis by one index: places of the window, or columns."""
    if isinstance(key, Const) and not isinstance(key.value, int):
        return reach
    if is_whole(key):
        return reach
    if reach.inner is not None and reach.is_series and reach.how == WINDOW:
        within = rows_cut(replace(reach, is_series=False), key)
        return None if within is None else replace(within, is_series=True, rows=reach.rows)
    if isinstance(reach.root, tuple) and reach.root[0] in ("array", "within") and reach.places is ALL:
        return replace(reach, places=key_of(key))
    return None


def is_whole(key: Value) -> bool:
    return (
        isinstance(key, Operation)
        and key.operator == "slice"
        and all(constant(part, 0) is None for part in key.operands)
    )


def is_run(key: Value) -> bool:
    """A slice from row to row: `i : i + length`."""
    start = offset_of(key.operands[0]) if isinstance(key, Operation) and key.operator == "slice" else None
    return start is not None and any(is_of_row(symbol) for symbol, _ in start.symbols)


def covers(one: Hashable, other: Hashable) -> bool:
    """Are columns of an array among others, for certain?"""
    if one is ALL or one == other:
        return True
    if not (
        isinstance(one, tuple) and one[0] == "slice" and isinstance(other, tuple) and other[0] == "const"
    ):
        return False
    place = other[1]
    if not isinstance(place, int) or any(part[0] != "const" for part in one[1:]):
        return False
    first, last, step = (part[1] for part in one[1:])
    if step not in (None, 1):
        return False
    if place == -1:
        return last is None and (first or 0) in (0, 1)
    return place >= (first or 0) >= 0 and (last is None or place < last)
