"""pandas: reading, joining, ordering, selecting, assigning, converting, encoding, grouping."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

from netmend.adapters.preparation import pandas_joins, tables, values
from netmend.adapters.preparation.conversions import ROWS
from netmend.adapters.preparation.divisions import Divisions, divisions
from netmend.adapters.preparation.raw_text import compared, garbled, header_eaten, lines_of
from netmend.adapters.preparation.sentinels import reach_the_model
from netmend.adapters.preparation.watch import After, Preparation, Seen

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
_COMPUTING = ("apply", "map", "applymap", "transform")
_FILLING = ("fillna", "ffill", "bfill", "interpolate")
_OF_TEXT = ("replace", "strip", "lstrip", "rstrip", "translate", "removeprefix", "removesuffix")
_PLAIN = ("copy", "to_numpy", "pop", "assign", "rename", "transpose", "squeeze", "to_frame", "abs")


def watch(preparation: Preparation) -> None:
    """Wrap what pandas offers; called when the program has imported it."""
    pandas = sys.modules["pandas"]
    frame, series = pandas.DataFrame, pandas.Series
    parents = values.Parents()
    known = divisions(preparation)
    for name in _READERS:
        separator = {"read_csv": ",", "read_table": "\t"}.get(name)
        look = partial(_read_text, separator) if separator else _read
        preparation.wrap(pandas, name, "read", partial(_and_identities, known, look), label=f"pandas.{name}")
    preparation.at_end("pandas.read", reach_the_model)
    pandas_joins.watch(preparation)
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
        for name in _COMPUTING:
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
        frame,
        "_set_item",
        "assign",
        partial(_assigned, preparation),
        _assigning,
        label="pandas.DataFrame.[]=",
        inside=True,
        looks=_FIRST_COLUMNS,
    )

    def selected(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        if tables.is_table(result) and len(result) != len(args[0]):
            known.selected(args[0], args[1])
        return _selected(parents, token, args, kwargs, result)

    def located(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
        table, key = args[0].obj, args[1][0] if isinstance(args[1], tuple) else args[1]
        if tables.is_frame(table) and tables.is_table(result) and len(result) != len(table):
            if args[0].name == "iloc":
                known.picked("pandas.DataFrame.iloc", table, len(table), key, (table,))
            known.selected(table, key)
        return None

    preparation.wrap(frame, "__getitem__", "select", selected, label="pandas.DataFrame.[]")
    locator = _definer(type(pandas.DataFrame().iloc), "__getitem__")
    preparation.wrap(locator, "__getitem__", "select", located, label="pandas.DataFrame.iloc")
    preparation.wrap(
        pandas, "to_numeric", "convert", _converted, label="pandas.to_numeric", looks=_FIRST_COLUMNS
    )
    preparation.wrap(pandas, "to_datetime", "convert", _converted, label="pandas.to_datetime")
    preparation.wrap(pandas, "get_dummies", "encode", _encoded, label="pandas.get_dummies")
    preparation.wrap(pandas, "factorize", "encode", _numbered, label="pandas.factorize")


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
    function = args[1] if len(args) > 1 else None
    computed = name != "astype" and not isinstance(function, type)  # `apply(int)` is a conversion
    seen = tables.change(before, after) | values.conversion(before, after, computed=computed)
    if name in _FILLING:
        table = before if tables.is_frame(before) else parents.of(args[0])
        seen |= values.over_borders(before, after, table) | values.filled_far(before, after)
    if name == "astype" and tables.is_series(before) and str(after.dtype) == "category":
        seen |= _numbers_as_categories(before)
    return {**seen, **pandas_joins.looked_up(before, args)} if name == "map" else seen


def _of_text(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    """A text method of a column: `column.str.replace`."""
    before = getattr(args[0], "_orig", None)
    if not tables.is_series(before) or not tables.is_series(result):
        return None
    return values.conversion(before, result, of_text=True) or None


def _and_identities(
    known: Divisions, look: After, token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any
) -> Seen | None:
    """Beside what was read: columns that may say whose a row is."""
    if tables.is_frame(table):
        known.read(table)
    return look(token, args, kwargs, table)


def _read(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], table: Any) -> Seen | None:
    if not tables.is_frame(table):
        return None
    path = args[0] if args else kwargs.get("filepath_or_buffer", kwargs.get("io", kwargs.get("path")))
    seen: dict[str, Any] = {
        **tables.size(table),
        "files": [str(path)[-200:]] if isinstance(path, str | os.PathLike) else [],
    }
    return seen | values.far_values(table)


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
    texts = (value for column in read.values() for value in column)
    eaten = header_eaten(lines) if has_header and names is None else {}
    return {**seen, **garbled(texts), **eaten, **compared(lines, read, places)}


def _made(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    return tables.size(args[0])


def _was_seen(preparation: Preparation, value: Any) -> bool:
    """Whether the call that made a value has been looked at for what it lost."""
    maker = preparation.origins.of(value)
    fact = preparation.facts.get(maker) if maker is not None else None
    return fact is not None and fact.kind == "convert"


def _assigning(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Labels of the rows, and the column that is about to be replaced."""
    table, name = args[0], args[1]
    is_there = isinstance(name, str) and table.columns.is_unique and name in table.columns
    return table.index, table[name] if is_there else None


def _assigned(
    preparation: Preparation, token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Seen | None:
    """A column is put into a table. A series goes by labels, not by place."""
    (labels, before), name, value = token, args[1], args[2]
    seen: dict[str, Any] = {"rows": len(labels), "assigned": [str(name)[:80]]}
    if before is not None and not _was_seen(preparation, value):
        after = args[0][name]
        seen |= values.conversion(before, after, computed=True)
        seen |= values.over_borders(before, after, args[0])
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
    given = args[0] if args else kwargs.get("data")
    columns: list[Any] = [given] if tables.is_series(given) else []
    if given is not None and tables.is_frame(given):
        chosen = kwargs.get("columns")
        columns = [given[name] for name in (chosen if isinstance(chosen, list) else given.columns)]
    found = next((seen for column in columns if (seen := _numbers_as_categories(column))), {})
    kept = set(given.columns) if given is not None and tables.is_frame(given) else set()
    indicators = "\n".join(str(name) for name in table.columns if name not in kept)
    return {
        **tables.size(table),
        "names": [str(name) for name in table.columns[:200]],
        "indicators": [crc32(indicators.encode())],  # more than one: calls of this line made different ones
        **found,
    }


def _numbered(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    given = args[0] if args else kwargs.get("values")
    return _numbers_as_categories(given) or None


def _numbers_as_categories(column: Any) -> dict[str, Any]:
    """A column of texts that are numbers, encoded as if they were names."""
    if not tables.is_series(column) or getattr(column.dtype, "kind", "O") != "O":
        return {}
    found = values.as_categories(column.iloc[:ROWS].tolist())
    return {"numbers_as_categories": {"column": str(column.name)[:80], **found}} if found else {}
