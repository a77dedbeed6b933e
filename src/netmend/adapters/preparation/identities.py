"""Values that may say whose a row is, as numbers: texts with digits, whole numbers, beginnings of file names."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

MOST_CLASSES = 50
_MOST_VARIANTS = 12  # files of one name
_DIGITS = re.compile(r"\d")
_AMOUNT = re.compile(r"\s*[-+]?\d+[.,]\d+\s*")
_AMOUNTS = 0.2  # share of a column's texts that are numbers with decimals
_BETWEEN = re.compile(r"[^0-9a-zA-Z]+")


@dataclass
class Column:
    """Values beside the rows that are divided, as numbers: the same number for the same value."""

    label: str
    codes: Any
    count: int
    is_identity: bool  # texts with digits, or whole numbers
    is_number: bool
    is_path: bool = False


def numbered(label: str, values: Any) -> list[Column]:
    """A column's values as numbers; of file names also each of their beginnings: `p07_slice3.png` → `p07`."""
    array = np.asarray(values) if not isinstance(values, list) else None
    if array is not None and array.dtype.kind in "biu":
        return _coded(label, array, is_identity=array.dtype.kind != "b", is_number=True)
    if array is not None and array.dtype.kind == "f":
        whole = array[np.isfinite(array)]
        if len(whole) and (whole == np.round(whole)).all() and len(np.unique(whole[:2000])) <= MOST_CLASSES:
            return _coded(label, array, is_identity=False, is_number=True)
        return []
    listed = list(values) if array is None else array.tolist()
    if not listed or not all(isinstance(value, str | os.PathLike | int | bytes) for value in listed[:50]):
        return []
    if isinstance(listed[0], int):
        return numbered(label, np.asarray(listed))
    texts = [
        value.decode("utf-8", "replace")
        if isinstance(value, bytes)
        else os.fspath(value)
        if isinstance(value, os.PathLike)
        else str(value)
        for value in listed
    ]
    if any(len(text) > 200 for text in texts[:50]):
        return []
    if np.mean([bool(_AMOUNT.fullmatch(text)) for text in texts[:500]]) > _AMOUNTS:
        return []  # numbers that were read as texts
    with_digits = np.mean([bool(_DIGITS.search(text)) for text in texts[:500]]) > 0.9
    if all(text.strip().isdecimal() for text in texts):
        return _coded(label, np.array([float(text) for text in texts]), is_identity=True, is_number=True)
    found = _coded(label, texts, is_identity=bool(with_digits), is_number=False)
    if _are_files(texts) and with_digits:
        found += _beginnings(label, texts)
    return found


def _coded(
    label: str, values: Any, *, is_identity: bool, is_number: bool, is_path: bool = False
) -> list[Column]:
    if isinstance(values, list):
        numbers: dict[Any, int] = {}
        codes = np.fromiter(
            (numbers.setdefault(value, len(numbers)) for value in values), dtype=np.int64, count=len(values)
        )
        count = len(numbers)
    else:
        kinds, codes = np.unique(values, return_inverse=True)
        count = len(kinds)
    return (
        [Column(label, codes.astype(np.int32), count, is_identity, is_number, is_path)] if count > 1 else []
    )


def _are_files(texts: list[str]) -> bool:
    return sum("." in text[-6:] for text in texts[:50]) > 0.9 * len(texts[:50])


def _beginnings(label: str, texts: list[str]) -> list[Column]:
    """Names without their last parts, where this gives groups: what stands before the last separators of the stem."""
    paths = [PurePath(text) for text in texts]
    split = [_BETWEEN.split(path.stem) for path in paths]
    found: list[Column] = []
    for kept in range(1, min(5, max(map(len, split)))):
        names = [
            "_".join(parts[:kept]) if kept < len(parts) else path.name
            for path, parts in zip(paths, split, strict=True)
        ]
        if sum(bool(_DIGITS.search(name)) for name in names[:200]) > 0.9 * len(names[:200]):
            whole = [f"{path.parent}/{name}" for path, name in zip(paths, names, strict=True)]
            found += _coded(
                f"{label} without its last part", whole, is_identity=True, is_number=False, is_path=True
            )
    return found
