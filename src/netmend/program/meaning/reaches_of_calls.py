"""What calls do to the reach of a series: functions of NumPy and SciPy, methods of pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from netmend.library.series import (
    AT_THE_ROW,
    BACK,
    CENTRED_WITH_SAME,
    ELEMENTWISE,
    SERIES_AT,
    SHIFTS,
    STATISTICS,
    SUMMARIES,
    TWO_SIDED,
    WITHIN_FILTERS,
)
from netmend.program.engine.calls import follow
from netmend.program.engine.machine import OutOfEffort
from netmend.program.engine.program import Program, once
from netmend.program.engine.values import (
    Call,
    Collection,
    Function,
    Item,
    Name,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.offsets import Offset, offset_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.reach import (
    BINNED,
    FAR,
    FILTERED,
    ROLLED,
    SHIFTED,
    STATISTIC,
    WINDOW,
    Reach,
    Reaches,
    opened,
)
from netmend.program.meaning.series_steps import (
    bin_step,
    bounds,
    half,
    is_grouped,
    summed_up,
    ungrouped,
    window_step,
    windowed,
)

if TYPE_CHECKING:
    from netmend.program.meaning.reaches import Reader


def function_reaches(reader: Reader, call: Call, name: str) -> Iterable[Reach]:
    if call.qualified in ("polars.col", "polars.column"):
        return _expression_root(reader, call)
    filters = _filtered(reader, call)
    if filters is not None:
        return filters
    if name == "sliding_window_view":
        length = offset_of(call.argument("window_shape", 1))
        return [
            replace(reach, inner=length, rows=None, how=reach.how or WINDOW)
            for reach in map(opened, reader.read(call.args[0] if call.args else None))
            if length is not None and reach.inner is None
        ]
    if name in ("roll", "diff", "ediff1d") and call.args:
        by = offset_of(call.argument("shift" if name == "roll" else "n", 1)) or (
            Offset(1) if name == "diff" else None
        )
        found = reader.read(call.args[0])
        if by is None:
            return ()
        if name == "roll":
            return [replace(reach.moved(-by), how=SHIFTED, node=call.node) for reach in found]
        return [replace(reach, high=reach.high + by, plain=reach.plain + by) for reach in found]
    if call.qualified.startswith(("pandas.", "polars.")) and name in (
        "merge",
        "merge_asof",
        "concat",
        "DataFrame",
    ):
        return tuple(reader.table(call))
    if name in SUMMARIES and name not in ("rank", "apply"):
        return () if call.keywords.get("axis") is None else reader.all(call.args[:1])
    if name in ("concatenate", "cat", "concat", "hstack", "vstack") and call.args:
        return _joined(reader, call, name)
    if name in ELEMENTWISE and call.args:
        return reader.all(call.args)
    if call.qualified.startswith(("pandas.", "polars.")):
        return tuple(reader.table(call))
    return (reader.root(call),)


def _joined(reader: Reader, call: Call, name: str) -> Reaches:
    """Arrays one behind the other."""
    given = resolved(call.args[0])
    items = given.items if isinstance(given, Collection) else call.args
    found = reader.all(items)
    if name == "vstack" and all(reach.inner is None and reach.rows is not None for reach in found):
        return reader.read(call.args[0])
    return found


def _expression_root(reader: Reader, call: Call) -> Reaches:
    """`pl.col("price")` in a step of a table: the column of that table."""
    table = frames_of_expressions(reader.program).get(id(call))
    if table is None or not call.args:
        return ()
    return tuple(reach for key in call.args for reach in reader.column(table, key))


def _filtered(reader: Reader, call: Call) -> Reaches | None:
    """A filter over the whole series that looks at both sides of every row; None for anything else."""
    qualified = call.qualified
    is_same = qualified in CENTRED_WITH_SAME and constant(call.argument("mode", 2)) == "same"
    if not is_same and qualified not in TWO_SIDED and qualified not in WITHIN_FILTERS:
        return None
    place = SERIES_AT.get(qualified, 0)
    series = call.argument("x", place) or call.argument("input") or call.argument("data")
    found = reader.read(series)
    if qualified in WITHIN_FILTERS:
        return found
    length = TWO_SIDED.get(qualified)
    ahead = half(call.argument(*length)) if length is not None else (Offset(1) if is_same else FAR)
    return tuple(
        # each window by itself
        reach
        if reach.inner is not None or not reach.is_series
        else reach.ahead(ahead, FILTERED, call.node, filters=True)
        for reach in found
    )


def method_reaches(reader: Reader, call: Call, name: str) -> Iterable[Reach]:
    receiver = resolved(call.receiver)
    assert receiver is not None
    if name == "pop" and call.args:
        return reader.column(receiver, call.args[0], call)
    if name in SHIFTS:
        return _shifted(reader, call, name, receiver)
    window = window_step(receiver)
    if window is not None and (name in SUMMARIES or name not in AT_THE_ROW):
        return _rolled(reader, window, call)
    if name.startswith("rolling_") or name == "rolling":
        return [windowed(reach, call, call) for reach in reader.read(receiver)]
    if name == "unfold":
        length = offset_of(call.argument("size", 1))
        step = constant(call.argument("step", 2))
        return [
            replace(reach, inner=length, rows=None, how=reach.how or WINDOW)
            for reach in map(opened, reader.read(receiver))
            if length is not None and step == 1 and reach.inner is None
        ]
    if name in BACK and constant(call.keywords.get("dim", call.keywords.get("axis")), 0) in (0, None):
        return [replace(reach, how=ROLLED, node=call.node) for reach in reader.read(receiver)]
    if (
        name in ("transform", "map", "apply", "over")
        and (found := _of_group(reader, call, name, receiver)) is not None
    ):
        return found
    if name == "reversed" or (name == "reverse" and not call.args):
        return [replace(reach, backwards=not reach.backwards) for reach in reader.read(receiver)]
    if name in ("with_columns", "assign", "select", "merge", "join", "drop", "join_asof"):
        return tuple(reader.table(call))
    if name in SUMMARIES:
        return _summary(reader, call, receiver)
    if name in ("when", "then", "otherwise"):
        return reader.all((receiver, *call.args))
    if name in AT_THE_ROW:
        return (*reader.read(receiver), *reader.all(call.args if name not in ("transform", "map", "apply", "fit_transform") else ()),
                *(reader.all(call.args[:1]) if name in ("fit_transform", "transform") else ()))  # fmt: skip
    return (reader.root(call),)


def _shifted(reader: Reader, call: Call, name: str, receiver: Value) -> Iterable[Reach]:
    given = call.argument("periods", 0) or call.argument("n")
    lags = bounds(given) if given is not None else (Offset(1), Offset(1))
    if lags is None or "freq" in call.keywords:
        return
    least, most = lags
    grouped = is_grouped(receiver)
    for reach in reader.read(ungrouped(receiver)):
        if reach.how == BINNED and least.is_at_least(1):
            yield replace(reach.moved(-FAR), how=SHIFTED, node=call.node)  # bins that have ended
            continue
        one, other = reach.moved(-least), reach.moved(-most)
        if name != "shift":
            # the present row beside it
            one = reach
            if (-least).is_at_least(1):
                one, other = other, reach
        yield replace(one, low=other.low, how=SHIFTED, node=call.node, grouped=grouped or reach.grouped)


def _rolled(reader: Reader, window: Call, call: Call) -> Iterable[Reach]:
    before = resolved(window.receiver)
    held = call.receiver
    picked_key = held.key if isinstance(held, Item) and resolved(held.base) is window else None
    series = (
        Item(before, picked_key, held.node)
        if picked_key is not None and before is not None and held is not None
        else before
    )
    grouped = is_grouped(before)
    for reach in reader.read(ungrouped(series) if picked_key is None else series):
        rolled = windowed(reach, window, call)
        yield replace(rolled, grouped=grouped or reach.grouped)


def _of_group(reader: Reader, call: Call, name: str, receiver: Value) -> Reaches | None:
    """A statistic over each row's group, or a function of the group's series; None for anything else."""
    given = resolved(call.args[0]) if call.args else None
    if name == "over":
        inner = resolved(call.receiver)
        found = reader.read(summed_up(inner))
        if isinstance(inner, Call) and inner.method in STATISTICS:
            return tuple(reach.ahead(FAR, STATISTIC, call.node) for reach in found)
        return tuple(replace(reach, grouped=True) for reach in reader.read(inner))
    if name == "map":
        if isinstance(given, Call) and given.method in STATISTICS and is_grouped(resolved(given.receiver)):
            found = reader.read(ungrouped(resolved(given.receiver)))
            return tuple(reach.ahead(FAR, STATISTIC, given.node) for reach in found)
        return None
    if not is_grouped(receiver):
        return None
    series = ungrouped(receiver)
    statistic = constant(given) or (given.qualified.rpartition(".")[2] if isinstance(given, Name) else "")
    if statistic in STATISTICS and name == "transform":
        return tuple(reach.ahead(FAR, STATISTIC, call.node) for reach in reader.read(series))
    if statistic in BACK or statistic in ("ffill", "bfill", "rank", "size", "count", "nunique"):
        return tuple(replace(reach, how=ROLLED, grouped=True) for reach in reader.read(series))
    if isinstance(given, Function) and series is not None:
        return tuple(replace(reach, grouped=True) for reach in reader.read(followed(reader, given, series)))
    return ()


def followed(reader: Reader, function: Function, series: Value) -> Value | None:
    """What a function gives for a series."""
    machine = reader.program.machine
    machine.begin()
    machine.visits.pop(id(function.definition), None)
    try:
        return follow(machine, function, Call(function, (series,)))
    except (OutOfEffort, RecursionError):
        return None


def _summary(reader: Reader, call: Call, receiver: Value) -> Iterable[Reach]:
    axis = call.keywords.get("axis") or call.keywords.get("dim") or (call.args[0] if call.args else None)
    if constant(axis) in (1, -1, "columns"):
        return reader.read(receiver)
    bins = bin_step(receiver)
    if bins is not None:
        found = reader.read(bins.receiver)
        is_late = constant(bins.keywords.get("label")) == "right"
        return [
            replace(reach, how="", node=None) if is_late else reach.ahead(FAR, BINNED, bins.node)
            for reach in found
        ]
    return ()


@once
def frames_of_expressions(program: Program) -> dict[int, Value]:
    """The table that each `pl.col(…)` is asked of: the one whose step it stands in."""
    found: dict[int, Value] = {}
    for event in program.methods_of("with_columns", "with_column", "select", "filter", "agg"):
        call = event.call
        if call.receiver is None:
            continue
        for given in call.given:
            for part in walk(given):
                if isinstance(part, Call) and part.qualified in ("polars.col", "polars.column"):
                    found.setdefault(id(part), resolved(call.receiver))
    return found
