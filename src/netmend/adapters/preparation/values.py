"""What a call did to the values of a table's columns: conversions that lose or misread, gaps filled over borders, values that stand for nothing.

Any object with pandas' interface; pandas is not imported.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from netmend.adapters.preparation import notations
from netmend.adapters.preparation.conversions import LOST, ROWS, Seen, carried_over, converted, narrowed
from netmend.adapters.preparation.tables import is_frame, is_series

_COLUMNS = 40
_LONGEST = 400_000  # rows, for what needs all of them
_SAMPLE = 4_000  # rows, for what a part shows
_LEAST = 40  # rows that say something of a column
_ON_TIME = re.compile(r"date|day|year|month|week|hour|minute|time|stamp|quarter|season|period", re.I)
_MOST_SENTINELS = 24

# -- what a column was taken from


class Parents:
    """The table that a column was taken from, as long as both are there."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]] = {}

    def remember(self, column: Any, table: Any) -> None:
        if len(self._tables) > 1_000:
            self._tables = {key: pair for key, pair in self._tables.items() if pair[0]() is not None}
        self._tables[id(column)] = (weakref.ref(column), weakref.ref(table))

    def of(self, column: Any) -> Any:
        pair = self._tables.get(id(column))
        return pair[1]() if pair is not None and pair[0]() is column else None


# -- conversions


def conversion(before: Any, after: Any, *, of_text: bool = False, computed: bool = False) -> Seen:
    """What a conversion lost, column by column. `computed`: by a function of the program's, which may make any number of another."""
    if is_series(before) and is_series(after):
        pairs = [(before, after)]
    elif is_frame(before) and is_frame(after):
        pairs = [(before[name], after[name]) for name in _shared(before, after)]
        pairs = [
            pair for pair in pairs if str(pair[0].dtype) != str(pair[1].dtype) or pair[0].dtype == object
        ]
    else:
        return {}
    losses = [found for one, other in pairs if (found := _of_column(one, other, of_text, computed))]
    return {"losses": losses} if losses else {}


def _of_column(before: Any, after: Any, of_text: bool, computed: bool) -> Seen:
    if len(before) != len(after) or not len(before):
        return {}
    if _is_number(before) and _is_number(after):
        if computed or str(before.dtype) == str(after.dtype):
            return {}
        step = max(1, len(before) // (10 * ROWS))
        one, other = (
            np.asarray(column.iloc[::step].to_numpy(float, na_value=np.nan)) for column in (before, after)
        )
        found = narrowed(one, other)
    else:
        step = -(-len(before) // ROWS)
        found = converted(before.iloc[::step].tolist(), after.iloc[::step].tolist(), of_text=of_text)
    return {"column": str(after.name)[:80], **found} if LOST & found.keys() else {}


def _shared(before: Any, after: Any) -> Iterator[Any]:
    if before.columns.is_unique and after.columns.is_unique:
        yield from [name for name in after.columns if name in before.columns][:_COLUMNS]


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iufb" and column.dtype != bool


# -- gaps filled over borders


def over_borders(before: Any, after: Any, table: Any) -> Seen:
    """Gaps in a column of numbers, or in those of a table, that were filled from another series of the same table."""
    if (
        table is None
        or not is_frame(table)
        or len(table) != len(before)
        or not _LEAST <= len(table) <= _LONGEST
    ):
        return {}
    if is_series(before):
        columns = [(before.name, before, after)] if is_series(after) else []
    elif is_frame(after):
        columns = [(name, before[name], after[name]) for name in _shared(before, after)]
    else:
        return {}
    columns = [
        column
        for column in columns
        if _is_number(column[1]) and _is_number(column[2]) and column[1].isna().any()
    ]
    if not columns or len(before) != len(after):
        return {}
    keys = dict(_series_of(table, {name for name, _, _ in columns}))
    clocks = list(_clocks(table))
    for name, one, other in columns:
        was, now = (np.asarray(column.to_numpy(float, na_value=np.nan)) for column in (one, other))
        for key, crossed, borders in carried_over(was, now, keys, clocks):
            return {
                "carried": [{"column": str(name)[:80], "over": key, "crossed": crossed, "borders": borders}]
            }
    return {}


def _series_of(table: Any, without: set[Any]) -> Iterator[tuple[str, Any]]:
    """Columns that may tell series apart, as whole numbers: no time, no measurement, nothing missing."""
    if not table.columns.is_unique:
        return
    for name in list(table.columns)[:_COLUMNS]:
        column = table[name]
        kind = getattr(column.dtype, "kind", "O")
        if name in without or kind in "mMf" or column.isna().any() or is_time(name, str(column.iloc[0])):
            continue
        codes = np.unique(np.asarray(column.astype(str)), return_inverse=True)[1]
        yield str(name)[:80], codes


def _clocks(table: Any) -> Iterator[Any]:
    """Columns without gaps that may tell the time, as numbers."""
    for name in list(table.columns)[:_COLUMNS]:
        column = table[name]
        if getattr(column.dtype, "kind", "O") in "iufmM" and not column.isna().any():
            yield np.asarray(column).astype("int64" if column.dtype.kind in "mM" else float)


def is_time(name: Any, first: str) -> bool:
    """Does a column tell when: its values are no series of their own."""
    return (
        _ON_TIME.search(str(name)) is not None
        or re.match(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}", first) is not None
    )


# -- values that stand for nothing


def far_values(table: Any) -> Seen:
    """`of_columns` of a table."""
    if not is_frame(table) or len(table) < _LEAST or not table.columns.is_unique:
        return {}
    part = table.iloc[:: -(-len(table) // _SAMPLE)]
    columns = {name: part[name] for name in list(table.columns)[: 4 * _COLUMNS] if _is_number(part[name])}
    return of_columns(
        {name: np.asarray(column.to_numpy(float, na_value=np.nan)) for name, column in columns.items()}
    )


def of_columns(columns: Mapping[Any, Any]) -> Seen:
    """Numbers far from all others that stand in many rows, and what a 0 in the place of each gap would be."""
    far = far_numbers(columns)
    zeros = [
        [str(name)[:80], *zero]
        for name, numbers in columns.items()
        if (zero := _zero_for_gaps(numbers)) is not None
    ]
    return ({"sentinels": far} if far else {}) | ({"gaps_as_zero": zeros[:_MOST_SENTINELS]} if zeros else {})


def _zero_for_gaps(numbers: Any) -> tuple[float, float, float] | None:
    return far_fill(numbers, np.nan_to_num(numbers, nan=0.0)) if np.isnan(numbers).any() else None


def far_numbers(columns: Mapping[Any, Any]) -> list[list[Any]]:
    """Numbers far from all others that stand in many rows: column, number, share of rows, distance in quartile ranges."""
    found = ((name, far_value(numbers)) for name, numbers in columns.items())
    return [[str(name)[:80], *far] for name, far in found if far is not None][:_MOST_SENTINELS]


_SHARE = (0.005, 0.6)  # of rows
_FAR = 3.0  # quartile ranges to the next number
_ZERO_FAR = 0.8  # the same for 0, below numbers that are all larger
_VARIED = 12  # different numbers beside it: a measurement or an amount
_TIMES = 5


def far_value(numbers: Any, least: float | None = None) -> tuple[float, float, float] | None:
    """A number that stands in many rows and far from all others, its share, and how far it is (`least`: from where on)."""
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) < _LEAST:
        return None
    for value in (numbers.min(), numbers.max()):
        at = numbers == value
        share = float(at.mean())
        rest = numbers[~at]
        if at.sum() < _TIMES or not _SHARE[0] <= share <= _SHARE[1] or len(np.unique(rest[:1000])) < _VARIED:
            continue
        low, high = np.percentile(rest, (25, 75))
        gap = float(np.abs(rest - value).min() / (high - low)) if high > low else 0.0
        if gap >= (least or (_FAR if value else _ZERO_FAR)):
            return float(value), share, gap
    return None


def filled_far(before: Any, after: Any) -> Seen:
    """Columns of numbers whose gaps were filled with one number that is far from all that were there."""
    if is_series(before) and is_series(after):
        pairs = [(before.name, before, after)]
    elif is_frame(before) and is_frame(after):
        pairs = [(name, before[name], after[name]) for name in _shared(before, after)]
    else:
        return {}
    found = []
    for name, one, other in pairs:
        if len(one) != len(other) or not _is_number(one) or not _is_number(other) or not one.isna().any():
            continue
        step = -(-len(one) // _SAMPLE)
        numbers = [
            np.asarray(column.iloc[::step].to_numpy(float, na_value=np.nan)) for column in (one, other)
        ]
        far = far_fill(*numbers)
        if far is not None:
            found.append([str(name)[:80], *far])
    return {"sentinels": found, "filled_in": True} if found else {}


def far_fill(before: Any, after: Any) -> tuple[float, float, float] | None:
    """The number that gaps were filled with, where it is far from all others."""
    far = far_value(after)
    gaps = np.isnan(before)
    if far is None or not gaps.any() or not (after[gaps] == far[0]).all() or (before == far[0]).any():
        return None
    return far


# -- numbers that are written as text and taken for categories

_NUMBERS = 0.9  # share of numbers among the texts
_DIFFERENT = 20  # different ones: names of classes are fewer
_DECIMALS = 0.3  # share with decimals or marks: whole numbers may be codes


def as_categories(texts: Any) -> Seen:
    """Texts that are numbers, which are about to be encoded as names of classes: how many different ones, and how they are written."""
    sample = [text for text in list(texts)[:ROWS] if isinstance(text, str) and text.strip()]
    if len(sample) < _LEAST or len(set(sample)) < _DIFFERENT:
        return {}
    written = [text for text in sample if not notations.is_absent(text)]
    kinds = [notations.kind_of_number(text) for text in written]
    numbers = [text for text, kind in zip(written, kinds, strict=True) if kind and kind != "unit"]
    if len(numbers) < _NUMBERS * len(sample) or len(set(numbers)) < _DIFFERENT:
        return {}
    decimals = sum("." in text or "," in text for text in numbers)
    if decimals < _DECIMALS * len(numbers) and len(written) == len(sample):
        return {}
    odd = sorted({text.strip() for text in sample if notations.is_absent(text)})[:3]
    return {"different": len(set(numbers)), "shapes": notations.usual_shapes(numbers), "odd": odd}
