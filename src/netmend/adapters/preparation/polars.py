"""polars: reading, converting and filling of columns."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from netmend.adapters.preparation import polars_joins
from netmend.adapters.preparation.conversions import LOST, ROWS, carried_over, converted
from netmend.adapters.preparation.raw_text import compared, lines_of
from netmend.adapters.preparation.values import far_fill, is_time, of_columns
from netmend.adapters.preparation.watch import Preparation, Seen

_COLUMNS = 40
_LONGEST = 400_000
_FIRST_COLUMNS = 32


def watch(preparation: Preparation) -> None:
    """Wrap what polars offers; called when the program has imported it."""
    polars = sys.modules["polars"]
    polars_joins.watch(preparation)
    preparation.wrap(polars, "read_csv", "read", _read, label="polars.read_csv")
    for name in ("read_parquet", "read_json", "read_excel", "read_database", "read_ndjson"):
        preparation.wrap(polars, name, "read", _read, label=f"polars.{name}")
    frame = polars.DataFrame
    for name in ("with_columns", "select"):
        preparation.wrap(frame, name, "convert", _changed, looks=_FIRST_COLUMNS)
    for name in ("filter", "drop_nulls", "unique", "head", "tail", "limit", "slice"):
        preparation.wrap(frame, name, "select", _rows)
    for name in ("sort", "sample"):
        preparation.wrap(frame, name, "order", _rows)
    preparation.wrap(polars.Series, "cast", "convert", partial(_of_column), looks=_FIRST_COLUMNS)


def _rows(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    if not hasattr(result, "height"):
        return None
    return {"rows": args[0].height, "rows_after": result.height}


def _read(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    if not hasattr(table, "height"):
        return None
    path = args[0] if args else kwargs.get("source")
    seen: dict[str, Any] = {
        "rows": table.height,
        "columns": table.width,
        "files": [str(path)[-200:]] if isinstance(path, str | os.PathLike) else [],
    }
    numbers = {name: table[name] for name in table.columns[: 4 * _COLUMNS] if table[name].dtype.is_numeric()}
    step = -(-table.height // ROWS) or 1
    seen |= of_columns({name: _floats(column.gather_every(step)) for name, column in numbers.items()})
    has_header = kwargs.get("has_header", True)
    skipped = kwargs.get("skip_rows", 0)
    lines = lines_of(path, kwargs.get("separator", ","), skipped=skipped, header=has_header)
    if lines is None:
        return seen
    names = lines.header if has_header else tuple(table.columns)
    places = {name: place for place, name in enumerate(names) if name in table.columns}
    read = {name: table[name].head(len(lines.rows)).to_list() for name in places}
    return {**seen, **compared(lines, read, places)}


def _changed(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], after: Any) -> Seen | None:
    """What became of the columns that keep their name."""
    before = args[0]
    if not hasattr(after, "height") or before.height != after.height or not before.height:
        return None
    seen: dict[str, Any] = {"rows": before.height, "rows_after": after.height}
    step = -(-before.height // ROWS)
    losses = []
    for name in [name for name in after.columns if name in before.columns][:_COLUMNS]:
        one, other = before[name], after[name]
        if one.dtype == other.dtype and str(one.dtype) != "String":
            continue
        found = converted(
            one.gather_every(step).to_list(),
            other.gather_every(step).to_list(),
            of_text=one.dtype == other.dtype,
        )
        if LOST & found.keys():
            losses.append({"column": name[:80], **found})
    far: list[list[Any]] = []
    for name in _filled(before, after):
        number = far_fill(_floats(before[name]), _floats(after[name]))
        far += [[name[:80], *number]] if number is not None else []
    seen |= {"sentinels": far, "filled_in": True} if far else {}
    carried = next(_carried(before, after), None)
    return seen | ({"losses": losses} if losses else {}) | ({"carried": [carried]} if carried else {})


def _of_column(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], after: Any) -> Seen | None:
    before = args[0]
    step = -(-len(before) // ROWS) or 1
    found = converted(before.gather_every(step).to_list(), after.gather_every(step).to_list(), same=True)
    return {"losses": [{"column": str(after.name)[:80], **found}]} if LOST & found.keys() else {}


def _filled(before: Any, after: Any) -> list[str]:
    """Columns of numbers with fewer gaps than before."""
    return [
        name
        for name in after.columns
        if name in before.columns
        and before[name].dtype.is_numeric()
        and after[name].dtype.is_numeric()
        and before[name].null_count() > after[name].null_count()
    ]


def _carried(before: Any, after: Any) -> Iterator[dict[str, Any]]:
    """Gaps in columns of numbers that were filled over the borders between series."""
    if after.height > _LONGEST:
        return
    filled = _filled(before, after)
    if not filled:
        return
    keys: dict[str, Any] = {}
    for name in after.columns[:_COLUMNS]:
        column = after[name]
        is_code = column.dtype.is_integer() or str(column.dtype) in ("String", "Categorical", "Enum")
        if name in filled or not is_code or column.null_count() or is_time(name, str(column[0])):
            continue
        keys[name] = np.unique(column.cast(str).to_numpy(), return_inverse=True)[1]
    clocks = [
        _floats(after[name].to_physical()) for name in after.columns[:_COLUMNS] if _is_clock(after[name])
    ]
    for name in filled:
        for key, crossed, borders in carried_over(_floats(before[name]), _floats(after[name]), keys, clocks):
            yield {"column": name[:80], "over": key[:80], "crossed": crossed, "borders": borders}


def _is_clock(column: Any) -> bool:
    return (column.dtype.is_numeric() or column.dtype.is_temporal()) and not column.null_count()


def _floats(column: Any) -> Any:
    values = [np.nan if value is None else value for value in column.to_list()]
    return np.asarray(values, float)
