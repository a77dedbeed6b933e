"""Steps of a series that look back or ahead: windows, lags, bins, groups, and loops that count through its rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from netmend.library.series import STATISTICS
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Element,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.offsets import ZERO, Offset, key_of, offset_of, run
from netmend.program.meaning.operations import parts_of, reached
from netmend.program.meaning.reach import CENTRED, ROLLED, Reach


def summed_up(inner: Value | None) -> Value | None:
    """The series that `pl.col("y").mean()` sums up."""
    if isinstance(inner, Call) and inner.method in STATISTICS:
        return inner.receiver
    return inner


def window_step(receiver: Value) -> Call | None:
    """The `rolling(…)`, `expanding()` or `ewm(…)` whose windows a summary is taken over."""
    if isinstance(receiver, Item):
        receiver = resolved(receiver.base)
    is_step = isinstance(receiver, Call) and receiver.method in ("rolling", "expanding", "ewm")
    return receiver if is_step and isinstance(receiver, Call) else None


def bin_step(receiver: Value) -> Call | None:
    while isinstance(receiver, Item):
        receiver = resolved(receiver.base)
    is_step = isinstance(receiver, Call) and receiver.method in (
        "resample",
        "groupby_dynamic",
        "group_by_dynamic",
    )
    return receiver if is_step and isinstance(receiver, Call) else None


def windowed(reach: Reach, window: Call, call: Call) -> Reach:
    name = window.method
    if name in ("expanding", "ewm"):
        return replace(reach, how=ROLLED, node=call.node)
    given = window.argument("window", 0) or window.argument("window_size", 0)
    size = resolved(given)
    if isinstance(size, Call) and size.qualified.endswith("FixedForwardWindowIndexer"):
        rows = offset_of(size.argument("window_size", 1)) or Offset(2)
        return reach.ahead(rows - 1, CENTRED, call.node)
    if constant(window.keywords.get("center")) is True:
        return reach.ahead(half(size), CENTRED, call.node)
    if reach.backwards:
        rows = offset_of(size) or Offset(2)
        return reach.ahead(rows - 1, CENTRED, call.node)
    back = Offset(-1) if constant(window.keywords.get("closed")) == "left" else ZERO
    return replace(reach.moved(back), how=ROLLED, node=call.node)


def half(size: Value | None) -> Offset:
    """The rows behind the middle of a window: at least one where the length is not known."""
    rows = offset_of(size)
    return Offset((rows.number - 1) // 2) if rows is not None and rows.is_number else Offset(1)


def is_grouped(receiver: Value | None) -> bool:
    """Is a series taken group by group?"""
    for _ in range(6):
        receiver = resolved(receiver)
        if not isinstance(receiver, Item | Attribute):
            break
        receiver = receiver.base
    return isinstance(receiver, Call) and receiver.method in ("groupby", "group_by")


def ungrouped(receiver: Value | None) -> Value | None:
    """The series behind `df.groupby("store")["units"]`; a whole table behind `df.groupby("store")`."""
    receiver = resolved(receiver)
    if isinstance(receiver, Call) and receiver.method in ("groupby", "group_by"):
        return receiver.receiver
    return receiver


def bounds(value: Value | None) -> tuple[Offset, Offset] | None:
    """The least and the most that a number of rows can be; a loop's counter takes all of its range."""
    value = resolved(value)
    if isinstance(value, Operation) and value.operator == "neg":
        inner = bounds(value.operands[0])
        return None if inner is None else (-inner[1], -inner[0])
    if isinstance(value, Element):
        source = resolved(value.iterable)
        if isinstance(source, Call) and source.qualified == "range" and 1 <= len(source.args) <= 2:
            ends = [offset_of(given) for given in source.args]
            start = ends[0] if len(ends) == 2 else ZERO
            return (start, ends[-1] - 1) if start is not None and ends[-1] is not None else None
        if isinstance(source, Collection) and not source.open:
            numbers = [constant(item) for item in source.items]
            if numbers and all(isinstance(number, int) for number in numbers):
                return Offset(min(numbers)), Offset(max(numbers))
    found = offset_of(value)
    return None if found is None else (found, found)


def in_order(reach: Reach, counters: dict[Hashable, tuple[Offset, Offset | None]]) -> Reach:
    """Samples gathered in a loop over rows, as rows of an array: of `x[i : i + 5] for i in range(a, b)` the first row begins at `a`."""
    row = reach.low.row
    start, step = counters.get(row, (None, None))
    reach = replace(reach, is_series=True, stride=step)
    if row is None or start is None or step != Offset(1):
        return reach
    low, high, plain = (offset.without(row) + start for offset in (reach.low, reach.high, reach.plain))
    return replace(reach, low=low, high=high, plain=plain)


def _with_keys(value: Value) -> Iterator[Value]:
    yield from parts_of(value)
    if isinstance(value, Item):
        yield value.key


def counters(value: Value) -> dict[Hashable, tuple[Offset, Offset | None]]:
    """Where the counters begin that a value is made with, and their steps."""
    found: dict[Hashable, tuple[Offset, Offset | None]] = {}
    for part in reached(value, _with_keys):
        if isinstance(part, Element):
            bounds = run(part.iterable)
            if bounds is not None:
                found[key_of(part)] = bounds
    return found
