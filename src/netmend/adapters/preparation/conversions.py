"""What a conversion did to a column: values before and after it, in numbers and shapes, never the values themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from netmend.adapters.preparation import notations, written_dates
from netmend.adapters.preparation.notations import Notation

ROWS = 800  # of a column that are looked at
_FEW = 5  # texts that may be odd, in any column
_UNITS = 3  # different words behind numbers, from which they are no units: "12a", "7b", "3c", "9d"
_TEXTS = 0.8  # share of texts in a column of texts
_CLOSE = 1e-6  # between a number and the same number read from its text
_SAME_WAY = 0.95  # of the wrong numbers that one mistake accounts for
_EPOCH = (
    (3e8, 5e9, "s"),
    (3e11, 5e12, "ms"),
)  # seconds and milliseconds since 1970, of the years 1979 to 2128
_VARIED = 10  # different numbers, before it is odd that one is left
_RESOLVED = 50  # different numbers, before it is odd that a tenth is left
_FELT = 0.02  # of the column's spread: steps of a type that are smaller are no loss to a network
_GROUPS = 3
_MANY_GROUPS = 20
_RESTARTS = 0.9  # of the borders between series, and of the steps within
# What is told of a column in which something was lost.
LOST = frozenset(("coerced", "misread", "mirrored", "epoch", "wrapped", "overflowed", "flattened", "merged"))
Seen = dict[str, Any]


def converted(
    before: Sequence[Any], after: Sequence[Any], *, of_text: bool = False, same: bool = False
) -> Seen:
    """What happened to the values of a column on the way; empty where nothing was lost. `of_text`: one text was made of another.

    `same`: the numbers are meant to stay what they are, as only their type changes.
    """
    texts = [value if isinstance(value, str) else None for value in before]
    if sum(text is not None for text in texts) < _TEXTS * max(1, sum(not is_missing(v) for v in before)):
        return _of_numbers(before, after, same)
    pairs = [(text, value) for text, value in zip(texts, after, strict=True) if text is not None]
    pairs = [(text, value) for text, value in pairs if not notations.is_absent(text)]
    if not pairs:
        return {}
    kept = [value for _, value in pairs if not is_missing(value)]
    if of_text or (kept and all(isinstance(value, str) for value in kept[:_FEW])):
        return _respelled(pairs) if of_text else {}
    dates = sum(isinstance(value, date | np.datetime64) for value in kept)
    if dates > 0.5 * len(kept) or (not kept and _dates(pairs) > 0.5 * len(pairs)):
        return _of_dates(pairs, len(before))
    if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in kept):
        return _coerced(pairs, len(before)) | _misread(pairs)
    return {}


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA, which refuses to be compared."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


# -- texts that became numbers


def _coerced(pairs: Sequence[tuple[str, Any]], rows: int) -> Seen:
    """Texts that became missing though they are numbers in another notation."""
    lost = [text for text, value in pairs if is_missing(value)]
    part = lost[:: -(-len(lost) // notations.LOOKED_AT) or 1]
    # A plain number is missing only where somebody said so: `na_values=[-200]`.
    kinds = [notations.kind_of_number(text).replace("plain", "") for text in part]
    units = {
        re.sub(r"[\d.,\s+-]", "", text) for text, kind in zip(part, kinds, strict=True) if kind == "unit"
    }
    if len(units) > _UNITS:
        kinds = ["" if kind == "unit" else kind for kind in kinds]
    numbers = [text for text, kind in zip(part, kinds, strict=True) if kind]
    if len(numbers) < _FEW:
        return {}
    way = notations.notation([text for text, _ in pairs]) or Notation(".", "")
    return {
        "decimal": way.decimal,
        "thousands": way.thousands,
        "coerced": len(lost) / rows,
        "coerced_numbers": len(numbers) / len(part),
        "coerced_kinds": sorted({kind for kind in kinds if kind}),
        "coerced_shapes": notations.usual_shapes(numbers),
        "kept_shapes": notations.usual_shapes(text for text, value in pairs if not is_missing(value)),
    }


def _respelled(pairs: Sequence[tuple[str, Any]]) -> Seen:
    """Texts of which marks were taken: is the number that is left still the one that was written?"""
    texts = [(text, value) for text, value in pairs if isinstance(value, str)]
    plain = [(text, float(value)) for text, value in texts if notations.is_plain(value)]
    if len(plain) < 0.9 * len(pairs) or all(notations.is_plain(text) for text, _ in texts):
        return {}
    return _misread(plain)


def _misread(pairs: Sequence[tuple[str, Any]]) -> Seen:
    """Numbers that are not those that the texts mean: a decimal comma taken for thousands, or the other way round, or a sign that is gone."""
    way = notations.notation([text for text, _ in pairs])
    marked = way is not None and any(mark and mark != "." for mark in (way.decimal, way.thousands))
    wrong: list[tuple[str, float, float]] = []
    count = 0
    for text, value in pairs:
        meant = notations.number(text, way)
        if meant is None or is_missing(value):
            continue
        count += 1
        if not math.isclose(meant, float(value), rel_tol=_CLOSE):
            wrong.append((text, meant, float(value)))
    if len(wrong) < _FEW or (
        len({_ratio(meant, value) for _, meant, value in wrong}) == 1 and len(wrong) == count
    ):
        return {}  # one factor for all: another unit
    filled = _filled_instead(wrong, len(pairs), way)
    if filled:
        return filled
    for mistake, explains in _MISTAKES.items():
        if mistake != "sign" and not marked:
            continue
        same = sum(explains(text, meant, value, way) for text, meant, value in wrong)
        if same >= _SAME_WAY * len(wrong):
            return {
                "misread": len(wrong) / len(pairs),
                "mistake": mistake,
                "decimal": way.decimal if way is not None else ".",
                "thousands": way.thousands if way is not None else "",
                "misread_shapes": notations.usual_shapes(text for text, _, _ in wrong),
                "misread_least": min(abs(_ratio(meant, value)) for _, meant, value in wrong),
                "misread_most": max(abs(_ratio(meant, value)) for _, meant, value in wrong),
            }
    return {}


def _filled_instead(wrong: Sequence[tuple[str, float, float]], rows: int, way: Notation | None) -> Seen:
    """Texts that could not be read and were replaced in the same step: all by one number."""
    texts = [text for text, _, _ in wrong]
    kinds = {notations.kind_of_number(text) for text in texts}
    if (
        len({value for _, _, value in wrong}) > 1
        or len({meant for _, meant, _ in wrong}) < _VARIED
        or "plain" in kinds
    ):
        return {}
    return {
        "decimal": way.decimal if way is not None else ".",
        "thousands": way.thousands if way is not None else "",
        "coerced": len(wrong) / rows,
        "coerced_numbers": 1.0,
        "coerced_kinds": sorted(kinds),
        "coerced_shapes": notations.usual_shapes(texts),
        "replaced_by": wrong[0][2],
    }


def _ratio(meant: float, value: float) -> float:
    return round(value / meant, 6) if meant else 0.0


def _digits_only(text: str, meant: float, value: float, way: Notation | None) -> bool:
    """All marks were taken out, decimal ones too."""
    bare = "".join(letter for letter in text if letter.isdigit())
    return bool(bare) and math.isclose(abs(value), float(bare), rel_tol=_CLOSE)


def _decimal_gone(text: str, meant: float, value: float, way: Notation | None) -> bool:
    """The decimal mark was taken out, or taken for thousands."""
    if way is None or way.decimal not in text:
        return False
    read = notations.number(text.replace(way.decimal, ""), Notation("." if way.decimal == "," else ",", ""))
    return read is not None and math.isclose(read, value, rel_tol=_CLOSE)


def _thousands_as_decimal(text: str, meant: float, value: float, way: Notation | None) -> bool:
    """The mark of thousands was read as the decimal one."""
    if way is None or not way.thousands or way.thousands not in text:
        return False
    read = notations.number(text, Notation(way.thousands, way.decimal))
    return read is not None and math.isclose(read, value, rel_tol=_CLOSE)


def _cut_at_mark(text: str, meant: float, value: float, way: Notation | None) -> bool:
    """Only what stands before the first mark was read."""
    before = re.split(r"[.,]", text, maxsplit=1)[0]
    read = notations.number(before, None)
    return read is not None and before != text and math.isclose(read, value, rel_tol=_CLOSE)


def _sign_gone(text: str, meant: float, value: float, way: Notation | None) -> bool:
    return math.isclose(meant, -value, rel_tol=_CLOSE)


_MISTAKES = {
    "sign": _sign_gone,
    "decimal mark taken out": _decimal_gone,
    "all marks taken out": _digits_only,
    "thousands read as decimals": _thousands_as_decimal,
    "cut at the first mark": _cut_at_mark,
}


# -- texts that became dates


def _dates(pairs: Sequence[tuple[str, Any]]) -> int:
    return sum(written_dates.fields(text) is not None for text, _ in pairs)


def _of_dates(pairs: Sequence[tuple[str, Any]], rows: int) -> Seen:
    """Dates that were read with day and month exchanged, and dates that were lost though others of the same pattern were not."""
    texts, dates = [text for text, _ in pairs], [_as_date(value) for _, value in pairs]
    seen: Seen = {}
    exchanged = written_dates.mirrored(texts, dates)
    if exchanged is not None:
        seen |= {"mirrored": exchanged.share, "first": exchanged.first, "certain": exchanged.certain}
    lost = [text for text, value in zip(texts, dates, strict=True) if value is None]
    shapes = {notations.shape(text) for text, value in zip(texts, dates, strict=True) if value is not None}
    alike = [text for text in lost if notations.shape(text) in shapes]
    if len(alike) >= _FEW:
        seen |= {
            "coerced": len(lost) / rows,
            "coerced_dates": len(alike) / len(lost),
            "coerced_shapes": notations.usual_shapes(alike),
        }
        first, certain = written_dates.comes_first(texts)
        seen |= {"first": first, "certain": certain} if first else {}
    return seen


def _as_date(value: Any) -> Any:
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.datetime64) else value


# -- numbers that became other numbers


def _of_numbers(before: Sequence[Any], after: Sequence[Any], same: bool) -> Seen:
    if any(isinstance(value, date | np.datetime64) for value in after[:_FEW]):
        return _of_epochs(before, after)
    if not same:
        return {}
    try:
        one, other = (np.asarray([_plain(value) for value in values], float) for values in (before, after))
    except (TypeError, ValueError):
        return {}
    return narrowed(one, other)


def _plain(value: Any) -> Any:
    return math.nan if is_missing(value) else value


def _of_epochs(before: Sequence[Any], after: Sequence[Any]) -> Seen:
    """Seconds since 1970 that were read as nanoseconds: all dates are the first of January 1970."""
    numbers = [value for value in before if isinstance(value, int | float) and not is_missing(value)]
    dates = [_as_date(value) for value in after if not is_missing(value)]
    if len(numbers) < _FEW or len(set(numbers)) < 2 or not dates:
        return {}
    for least, most, unit in _EPOCH:
        if all(least <= number <= most for number in numbers) and all(
            (day.year, day.month, day.day) == (1970, 1, 1) for day in dates
        ):
            return {"epoch": unit}
    return {}


def narrowed(before: Any, after: Any) -> Seen:
    """What a type that is too small, or without sign or decimals, made of numbers."""
    finite = np.isfinite(before)
    before, after = np.asarray(before, float)[finite], np.asarray(after, float)[finite]
    if not len(before) or before.shape != after.shape or (before == after).all():
        return {}
    seen: Seen = {}
    infinite = ~np.isfinite(after)
    off = np.abs(before - np.where(infinite, before, after))
    wrapped = off >= np.maximum(1, 1e-3 * np.abs(before))
    if infinite.sum() >= 1 and np.isinf(after).any():
        seen["overflowed"] = float(np.isinf(after).mean())
    if wrapped.sum() >= 1 and (after == np.round(after)).all():
        seen |= {"wrapped": float(wrapped.mean()), "sign_lost": bool((before[wrapped] < 0).mean() > 0.5)}
    distinct = len(np.unique(before))
    left = len(np.unique(after))
    if distinct >= _VARIED and left == 1:
        seen["flattened"] = distinct
    elif (
        distinct >= _RESOLVED
        and left <= 0.1 * distinct
        and (off < 1e-2 * np.abs(before)).all()
        and off.max() >= _FELT * before.std()
    ):
        seen |= {"merged": distinct, "merged_left": left}
    return seen


# -- values carried from row to row


def carried_over(
    before: Any, after: Any, keys: Mapping[str, Any], clocks: Sequence[Any] = ()
) -> Iterator[tuple[str, int, int]]:
    """Columns whose runs of equal values are series of their own, over whose borders gaps were filled: name, borders crossed, borders.

    `before` and `after`: a column of numbers before and after it was filled; `keys`: whole numbers for the values of other columns;
    `clocks`: columns that may tell the time. Few runs are series only where time begins anew with each.
    """
    before, after = np.asarray(before, float), np.asarray(after, float)
    was, filled = np.isnan(before), np.isnan(before) & ~np.isnan(after)
    if not filled.any() or was.all():
        return
    for name, codes in keys.items():
        starts = np.flatnonzero(np.diff(codes)) + 1  # first rows of all runs but the first
        runs = len(starts) + 1
        if not _GROUPS <= runs <= len(codes) / 2 or len(np.unique(codes)) != runs:
            continue
        if runs < _MANY_GROUPS and not any(_restarts(clock, starts) for clock in clocks):
            continue  # phases of one series, as far as can be told
        forward = filled[starts] & (after[starts] == _last_before(before, starts))
        backward = filled[starts - 1] & (after[starts - 1] == _next_from(before, starts))
        for crossed, sources in (
            (forward, _last_before(before, starts)),
            (backward, _next_from(before, starts)),
        ):
            carried = sources[crossed]
            if crossed.sum() >= 2 and len(np.unique(carried)) >= 2:
                yield name, int(crossed.sum()), len(starts)
                break


def _restarts(clock: Any, starts: Any) -> bool:
    """Does a column grow within every series and fall back where the next one begins?"""
    steps = np.diff(np.asarray(clock, float))
    within = np.delete(steps, starts - 1)
    return bool(
        (steps[starts - 1] < 0).mean() >= _RESTARTS and len(within) and (within > 0).mean() >= _RESTARTS
    )


def _last_before(column: Any, rows: Any) -> Any:
    """The last value that is not missing above each of some rows."""
    known = np.flatnonzero(~np.isnan(column))
    place = np.searchsorted(known, rows) - 1
    return np.where(place >= 0, column[known[np.maximum(place, 0)]], np.nan)


def _next_from(column: Any, rows: Any) -> Any:
    """The first value that is not missing from each of some rows on."""
    known = np.flatnonzero(~np.isnan(column))
    place = np.searchsorted(known, rows)
    return np.where(place < len(known), column[known[np.minimum(place, len(known) - 1)]], np.nan)
