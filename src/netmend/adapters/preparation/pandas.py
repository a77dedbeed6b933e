"""pandas: reading, joining, ordering, selecting, assigning, converting, encoding, grouping."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import numpy as np

from netmend.adapters.preparation import tables, values
from netmend.adapters.preparation.divisions import divisions
from netmend.adapters.preparation.raw_text import compared, lines_of
from netmend.adapters.preparation.sentinels import reach_the_model
from netmend.adapters.preparation.watch import Preparation, Seen

_READERS = (
    "read_csv", "read_table", "read_excel", "read_json", "read_parquet", "read_fwf", "read_sql", "read_feather",
    "read_pickle", "read_sql_query", "read_sql_table", "read_hdf", "read_xml", "read_html",
)  # fmt: skip
_ORDERING = (
    "sort_values",
    "sort_index",
    "sample",
    "reset_index",
    "set_index",
    "reindex",
    "nlargest",
    "nsmallest",
)
_SELECTING = ("dropna", "drop_duplicates", "query", "drop", "head", "tail", "truncate", "filter")
_CONVERTING = (
    "astype",
    "fillna",
    "replace",
    "clip",
    "interpolate",
    "ffill",
    "bfill",
    "round",
    "where",
    "mask",
)
_BY_TIME = ("shift", "diff", "pct_change")
_FIRST_COLUMNS = 32  # of a loop over columns
_FILLING = ("fillna", "ffill", "bfill", "interpolate")
_OF_TEXT = ("replace", "strip", "lstrip", "rstrip", "translate", "removeprefix", "removesuffix")
_PLAIN = ("copy", "to_numpy", "pop", "assign", "rename", "transpose", "squeeze", "to_frame", "abs")


def watch(preparation: Preparation) -> None:
    """Wrap what pandas offers; called when the program has imported it."""
    pandas = sys.modules["pandas"]
    frame, series = pandas.DataFrame, pandas.Series
    parents = values.Parents()
    for name in _READERS:
        separator = {"read_csv": ",", "read_table": "\t"}.get(name)
        look = partial(_read_text, separator) if separator else _read
        preparation.wrap(pandas, name, "read", look, label=f"pandas.{name}")
    preparation.at_end("pandas.read", reach_the_model)
    preparation.wrap(pandas, "merge", "join", _merged, label="pandas.merge")
    preparation.wrap(frame, "merge", "join", _merged)
    preparation.wrap(frame, "join", "join", _joined)
    preparation.wrap(pandas, "merge_asof", "join", _joined, label="pandas.merge_asof")
    preparation.wrap(pandas, "concat", "join", _concatenated, label="pandas.concat")
    for owner in (frame, series):
        for kind, names in (
            ("order", _ORDERING),
            ("select", _SELECTING),
            ("time", _BY_TIME),
        ):
            for name in names:
                if name in vars(owner) or hasattr(owner, name):
                    preparation.wrap(_definer(owner, name), name, kind, _changed, _kept)
        for name in _CONVERTING:
            preparation.wrap(
                _definer(owner, name),
                name,
                "convert",
                partial(_values, parents, name),
                _kept,
                looks=_FIRST_COLUMNS,
            )
        for name in ("apply", "map", "applymap", "transform"):
            if hasattr(owner, name):
                preparation.wrap(
                    _definer(owner, name), name, "convert", partial(_values, parents, name), _kept
                )
        for name in _PLAIN:
            if hasattr(owner, name):
                preparation.wrap(_definer(owner, name), name, "same", _nothing)
    preparation.inherits(_definer(frame, "__finalize__"), "__finalize__")  # results of arithmetic
    preparation.wrap(frame, "__init__", "make", _made, label="pandas.DataFrame")
    for name in _OF_TEXT:
        texts = pandas.core.strings.accessor.StringMethods
        preparation.wrap(
            texts, name, "convert", _of_text, label=f"pandas.Series.str.{name}", looks=_FIRST_COLUMNS
        )
    # `__setitem__` counts references to its table: what it calls is watched instead.
    preparation.wrap(
        frame, "_set_item", "assign", _assigned, _assigning, label="pandas.DataFrame.[]=", inside=True
    )
    known = divisions(preparation)

    def selected(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        if tables.is_table(result) and len(result) != len(args[0]):
            known.selected(args[0], args[1])
        return _selected(parents, token, args, kwargs, result)

    preparation.wrap(frame, "__getitem__", "select", selected, label="pandas.DataFrame.[]")
    preparation.wrap(
        pandas, "to_numeric", "convert", _converted, label="pandas.to_numeric", looks=_FIRST_COLUMNS
    )
    preparation.wrap(pandas, "to_datetime", "convert", _converted, label="pandas.to_datetime")
    preparation.wrap(pandas, "get_dummies", "encode", _encoded, label="pandas.get_dummies")
    preparation.wrap(pandas, "factorize", "encode", _nothing, label="pandas.factorize")


def _definer(owner: type, name: str) -> type:
    """The class in whose body a method stands: wrapped once, for frames and series alike."""
    return next(kind for kind in owner.__mro__ if name in vars(kind))


def _nothing(token: Any, args: Any, kwargs: Any, result: Any) -> Seen | None:
    return None


def _kept(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a table was before a call that may change it in place."""
    table = args[0]
    return table.copy(deep=False) if kwargs.get("inplace") else table


def _changed(before: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    after = args[0] if result is None else result
    if not tables.is_table(before) or not tables.is_table(after):
        return None
    return tables.change(before, after)


def _values(
    parents: values.Parents,
    name: str,
    before: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> Seen | None:
    """A call that makes other values of a column or table."""
    after = args[0] if result is None else result
    if not tables.is_table(before) or not tables.is_table(after):
        return None
    seen = tables.change(before, after) | values.conversion(before, after)
    if name in _FILLING:
        table = before if tables.is_frame(before) else parents.of(args[0])
        seen |= values.over_borders(before, after, table)
    return seen


def _of_text(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    """A text method of a column: `column.str.replace`."""
    before = getattr(args[0], "_orig", None)
    if not tables.is_series(before) or not tables.is_series(result):
        return None
    return values.conversion(before, result, of_text=True) or None


def _read(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    if not tables.is_frame(table):
        return None
    path = args[0] if args else kwargs.get("filepath_or_buffer", kwargs.get("io", kwargs.get("path")))
    seen: dict[str, Any] = {
        **tables.size(table),
        "files": [str(path)[-200:]] if isinstance(path, str | os.PathLike) else [],
    }
    found = values.sentinels(table)
    return seen | {"sentinels": found} if found else seen


def _read_text(
    separator: str, token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any
) -> Seen | None:
    """A table that was read from a text, and that text once more."""
    seen = _read(token, args, kwargs, table)
    if seen is None or not tables.is_frame(table):
        return seen
    path = args[0] if args else kwargs.get("filepath_or_buffer")
    mark = kwargs.get("sep", kwargs.get("delimiter")) or separator
    header, names = kwargs.get("header", "infer"), kwargs.get("names")
    has_header = header == 0 or (header == "infer" and names is None)
    skipped = kwargs.get("skiprows") or 0
    is_simple = isinstance(skipped, int) and (has_header or header in (None, "infer"))
    mark = " " if mark in (r"\s+", r"\s*") else mark
    if not is_simple or not isinstance(mark, str) or len(mark) != 1 or not table.columns.is_unique:
        return seen
    lines = lines_of(
        path,
        mark,
        encoding=kwargs.get("encoding") or "utf-8",
        skipped=skipped,
        header=has_header,
        comment=kwargs.get("comment") or "",
    )
    if lines is None:
        return seen
    if names is not None or not has_header:
        places = {name: place for place, name in enumerate(table.columns)}
    else:
        own = {str(name): name for name in table.columns}
        places = {own[name]: place for place, name in enumerate(lines.header) if name in own}
    count = len(lines.rows)
    read = {name: table[name].iloc[:count].tolist() for name in places}
    return {**seen, **compared(lines, read, places)}


def _joined(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    left = args[0] if args else kwargs.get("left")
    if not tables.is_frame(left) or not tables.is_frame(table):
        return None
    return tables.change(left, table)


def _merged(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    left = args[0] if args else kwargs.get("left")
    right = args[1] if len(args) > 1 else kwargs.get("right")
    if not (tables.is_frame(left) and tables.is_frame(right) and tables.is_frame(table)):
        return None
    assert left is not None and right is not None
    how = kwargs.get("how", args[2] if len(args) > 2 else "inner")
    seen: dict[str, Any] = {
        "rows": len(left),
        "rows_right": len(right),
        "rows_after": len(table),
        "how": str(how),
    }
    keys = _keys(left, right, args, kwargs)
    if keys is not None:
        seen |= _partners(left[keys[0]], right[keys[1]])
    return seen


def _keys(
    left: Any, right: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], list[Any]] | None:
    on = kwargs.get("on", args[3] if len(args) > 3 else None)
    of_left, of_right = kwargs.get("left_on", on), kwargs.get("right_on", on)
    if of_left is None and of_right is None and not (kwargs.get("left_index") or kwargs.get("right_index")):
        of_left = of_right = [name for name in left.columns if name in set(right.columns)]
    names = [
        [name] if isinstance(name, str) else list(name) for name in (of_left, of_right) if name is not None
    ]
    if len(names) != 2 or not all(
        name in table.columns for table, own in zip((left, right), names, strict=True) for name in own
    ):
        return None
    return names[0], names[1]


def _partners(left: Any, right: Any) -> dict[str, Any]:
    """Rows without a partner, keys that stand several times, and whether spelling keeps partners apart."""
    one, other = (
        [tuple(row) for row in tables.sample(table).itertuples(index=False)] for table in (left, right)
    )
    every = {tuple(row) for row in right.drop_duplicates().itertuples(index=False)}
    alone = [row for row in one if row not in every]
    seen: dict[str, Any] = {
        "alone": len(alone) / len(one) if one else 0.0,
        "repeated_left": 1 - len(set(one)) / len(one) if one else 0.0,
        "repeated_right": 1 - len(set(other)) / len(other) if other else 0.0,
        "key_types": [str(left.dtypes.iloc[0]), str(right.dtypes.iloc[0])],
    }
    if alone:
        spelled = {tuple(map(_spelling, row)) for row in every}
        seen["alone_by_spelling"] = sum(tuple(map(_spelling, row)) in spelled for row in alone) / len(one)
    return seen


def _spelling(value: Any) -> str:
    text = str(value).strip().casefold()
    return text.removesuffix(".0").lstrip("0") or "0" if text.replace(".", "", 1).isdigit() else text


def _concatenated(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    given = args[0] if args else kwargs.get("objs")
    parts = (
        list(given.values())
        if isinstance(given, dict)
        else list(given)
        if isinstance(given, list | tuple)
        else []
    )
    if len(parts) < 2 or not all(map(tables.is_table, parts)):
        return None
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    side_by_side = axis in (1, "columns")
    shares = [max(tables.missing(part).values(), default=0.0) for part in parts]
    worst = max(tables.missing(table).values(), default=0.0)
    seen: dict[str, Any] = {
        "rows": max(map(len, parts)) if side_by_side else sum(map(len, parts)),
        "rows_after": len(table),
        "side_by_side": side_by_side,
    }
    if worst > max(shares):
        seen["made_missing"] = worst - max(shares)
    if side_by_side:
        seen["orders"] = [tables.order(parts[0].index, part.index) for part in parts[1:]]
    return seen


def _made(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    return tables.size(args[0])


def _assigning(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0].index


def _assigned(labels: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    """A column is put into a table. A series goes by labels, not by place."""
    name, value = args[1], args[2]
    seen: dict[str, Any] = {"rows": len(labels), "assigned": [str(name)[:80]]}
    if not tables.is_series(value) or not len(labels):
        return seen
    order = tables.order(labels, value.index)
    if order == "kept":
        return seen
    lost = float(np.mean(~labels.isin(value.index)))
    return seen | {"order": order, "rows_right": len(value), "made_missing": lost, "column": str(name)[:80]}


def _selected(
    parents: values.Parents, token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Seen | None:
    table = args[0]
    if tables.is_series(result) and len(result) == len(table):
        parents.remember(result, table)
    if not tables.is_table(result) or len(result) == len(table):
        return None
    return {"rows": len(table), "rows_after": len(result), "order": tables.order(table.index, result.index)}


def _converted(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    before = args[0] if args else kwargs.get("arg")
    if not tables.is_series(before) or not tables.is_series(result):
        return None
    return tables.change(before, result) | values.conversion(before, result)


def _encoded(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    if not tables.is_frame(table):
        return None
    return {**tables.size(table), "names": [str(name) for name in table.columns[:200]]}
