"""The text of a table in its file, beside what a reader made of it: the first rows again, by path. Nothing of it is kept but shapes and counts."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from netmend.adapters.preparation import notations
from netmend.adapters.preparation.conversions import LOST, converted, is_missing

_ROWS = 600
_BYTES = 400_000  # of a file that are read again
_COLUMNS = 60
_AGREE = 0.95  # share of texts of a column that must be what the reader says, for the rows to be the same
_FEW = 5
_PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".parquet", ".xlsx", ".xls", ".feather", ".h5", ".pkl")
# Texts that readers take for missing though they may be a word.
_WORDS = ("NA", "N/A", "n/a", "None", "null", "NULL", "nan", "NaN", "<NA>", "#N/A", "#NA")
Seen = dict[str, Any]


@dataclass(frozen=True)
class Lines:
    """The first rows of a file as texts, and its header where it has one."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def lines_of(
    path: Any, separator: str = ",", *, encoding: str = "utf-8", skipped: int = 0, header: bool = True, comment: str = ""
) -> Lines | None:  # fmt: skip
    """None where the file cannot be read as plain text in rows."""
    if not isinstance(path, str | os.PathLike) or str(path).endswith(_PACKED) or not Path(path).is_file():
        return None
    try:
        with Path(path).open(encoding=encoding, errors="replace", newline="") as file:
            text = file.read(_BYTES)
    except (OSError, LookupError):
        return None
    lines = text.splitlines()
    if len(text) == _BYTES:
        lines = lines[:-1]
    lines = [line for line in lines[skipped:] if line.strip() and not (comment and line.startswith(comment))]
    if separator.isspace() and separator != "\t":
        rows = [tuple(line.split()) for line in lines[: _ROWS + 1]]
    else:
        rows = [tuple(row) for row in islice(csv.reader(lines, delimiter=separator), _ROWS + 1)]
    if not rows:
        return None
    return (
        Lines(tuple(name.strip() for name in rows[0]), tuple(rows[1:])) if header else Lines((), tuple(rows))
    )


def compared(lines: Lines, columns: Mapping[Any, Sequence[Any]], places: Mapping[Any, int]) -> Seen:
    """What a reader made of the texts: words read as missing, numbers and dates misread, by the column that it happened to most.

    `columns`: the first values of each as the reader gave them; `places`: where each stands in a row of the file.
    """
    texts = {
        str(name): [row[place].strip() if place < len(row) else "" for row in lines.rows]
        for name, place in list(places.items())[:_COLUMNS]
        if name in columns
    }
    columns = {str(name): values for name, values in columns.items()}
    if not texts or not any(_agree(texts[name], columns[name]) for name in texts):
        return {}
    losses: list[Seen] = []
    words: dict[str, dict[str, int]] = {}
    for name, column in texts.items():
        values = columns[name][: len(column)]
        column = column[: len(values)]
        absent = Counter(
            text if text in _WORDS or not text else "other"
            for text, value in zip(column, values, strict=True)
            if is_missing(value)
        )
        if absent:
            words[name] = dict(absent)
        found = {} if _are_read_plainly(column, values) else converted(column, values)
        zeros = _zeros_lost(column, values)
        if zeros:
            found["zeros_lost"] = zeros
        if found.keys() & {*LOST, "zeros_lost"}:
            losses.append({"column": name[:80], **found})
    lost = _category_lost(texts, words, columns)
    return ({"losses": losses} if losses else {}) | ({"category_lost": lost} if lost else {})


def _are_read_plainly(texts: Sequence[str], values: Sequence[Any]) -> bool:
    """Numbers without another mark than the decimal point, as most columns have them: nothing can be misread."""
    try:
        written = np.array([text or "nan" for text in texts], float)
        read = np.array([math.nan if is_missing(value) else value for value in values], float)
    except (TypeError, ValueError):
        return False
    if any(isinstance(value, str) for value in values[:1]) or not np.array_equal(
        written, read, equal_nan=True
    ):
        return False
    in_threes = sum("." in text and len(text) - text.index(".") == 4 for text in texts)
    return in_threes < 0.3 * len(texts)


def _agree(texts: Sequence[str], values: Sequence[Any]) -> bool:
    """Are these rows those that the reader gave?"""
    pairs = [
        (text, value) for text, value in zip(texts, values, strict=False) if text and not is_missing(value)
    ]
    if len(pairs) < _FEW or len({text for text, _ in pairs}) < 2:
        return False
    return sum(_is(text, value) for text, value in pairs) >= _AGREE * len(pairs)


def _is(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text == value.strip()
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return False


def _zeros_lost(texts: Sequence[str], values: Sequence[Any]) -> int:
    """How many codes became one number with others, as their leading zeros are gone: "007" and "7"."""
    pairs = [(text, value) for text, value in zip(texts, values, strict=True) if text.isdigit()]
    if len(pairs) < 0.9 * len(texts) or not any(text.startswith("0") and len(text) > 1 for text, _ in pairs):
        return 0
    if any(isinstance(value, str) for _, value in pairs):
        return 0
    return len({text for text, _ in pairs}) - len({value for _, value in pairs})


def _category_lost(
    texts: Mapping[str, Sequence[str]], words: Mapping[str, Mapping[str, int]], columns: Mapping[str, Sequence[Any]]
) -> Seen:  # fmt: skip
    """A column of short words in which one of them was read as missing, while missing values of the file are empty fields."""
    empty = {name for name, counts in words.items() if counts.get("")}
    for name, counts in words.items():
        written = {word: count for word, count in counts.items() if word not in ("", "other")}
        if len(written) != 1:
            continue
        word, count = next(iter(written.items()))
        rest = Counter(text for text in texts[name] if text and text != word)
        elsewhere = sum(word in other for column, other in words.items() if column != name)
        if (
            len(rest) < 2
            or elsewhere
            or not all(isinstance(v, str) for v in columns[name] if not is_missing(v))
        ):
            continue
        is_code = all(
            notations.shape(text) == notations.shape(word) and text.isupper() == word.isupper()
            for text in rest
        )
        frequent = count >= 0.5 * sorted(rest.values())[0] and len(rest) <= 0.1 * sum(rest.values()) + 2
        if frequent and (empty or is_code) and (is_code or (word in ("None", "NA", "N/A") and bool(empty))):
            return {
                "column": name[:80],
                "word": word,
                "share": count / len(texts[name]),
                "others": len(rest),
                "is_code": is_code,
                "empty_elsewhere": bool(empty),
            }
    return {}


def garbled(values: Iterable[Any]) -> Seen:
    """Texts that were written as UTF-8 and read with another encoding: "MÃ¼nchen"."""
    texts = {value for value in values if isinstance(value, str) and not value.isascii()}
    wrong = sum(_was_utf8(text) for text in texts)
    return {"garbled": wrong} if wrong >= 2 and wrong >= 0.5 * len(texts) else {}


def _was_utf8(text: str) -> bool:
    for encoding in ("latin-1", "cp1252"):
        try:
            if text.encode(encoding).decode("utf-8") != text:
                return True
        except UnicodeError:
            continue
    return False


_IN_RANGE = 0.8  # share of names that lie among the numbers of their column
_LEAST_COLUMNS = 3
_LEAST_ROWS = 20


def header_eaten(lines: Lines) -> Seen:
    """A first row of numbers that was taken for the names of the columns."""
    if len(lines.header) < _LEAST_COLUMNS or len(lines.rows) < _LEAST_ROWS:
        return {}
    first = [_float(name) for name in lines.header]
    numbers = [place for place, number in enumerate(first) if number is not None]
    steps = {round(first[b] - first[a], 6) for a, b in pairwise(numbers)}  # type: ignore[operator]
    if len(numbers) < 0.6 * len(first) or len(numbers) < _LEAST_COLUMNS or len(steps) <= 1:
        return {}
    if all(name.strip().isdigit() for name in lines.header):
        return {}  # years, places, classes: names may be whole numbers
    among = 0
    for place in numbers:
        column = [
            number for row in lines.rows if place < len(row) and (number := _float(row[place])) is not None
        ]
        among += len(column) > 0.9 * len(lines.rows) and min(column) <= first[place] <= max(column)  # type: ignore[operator]
    return {"header_eaten": len(numbers)} if among >= _IN_RANGE * len(numbers) else {}


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
