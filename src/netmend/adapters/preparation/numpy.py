"""NumPy: numbers read from texts and from bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from netmend.adapters.preparation.raw_text import compared, lines_of
from netmend.adapters.preparation.values import far_fill, of_columns
from netmend.adapters.preparation.watch import Preparation, Seen

_LEAST = 2_048  # bytes or numbers, to tell how they were meant
_MOST = 200_000
_COLUMNS = 200
_HEADERS = {b"RIFF": "a WAV header", b"\x93NUM": "the header of a .npy file", b"\x89PNG": "a PNG header", b"fLaC": "a FLAC header"}  # fmt: skip
_SMOOTHER = 0.25  # steps between neighbours, once the bytes of each number are exchanged
_HIGH, _LOW = 0.8, 0.35  # share of bytes near 0, of every second one and of the others
_NONSENSE = 0.3  # share of floats that no measurement has


def watch(preparation: Preparation) -> None:
    """Wrap what NumPy offers; called when the program has imported it."""
    numpy = sys.modules["numpy"]
    for name in ("genfromtxt", "loadtxt"):
        preparation.wrap(numpy, name, "read", _text, label=f"numpy.{name}")
    preparation.wrap(numpy, "load", "read", _array, label="numpy.load")
    for name in ("fromfile", "frombuffer"):
        preparation.wrap(numpy, name, "read", _bytes, label=f"numpy.{name}")
    preparation.wrap(numpy, "nan_to_num", "convert", _filled, label="numpy.nan_to_num")


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], name: str, place: int) -> Any:
    return kwargs.get(name, args[place] if len(args) > place else None)


def _path(thing: Any) -> list[str]:
    return [str(thing)[-200:]] if isinstance(thing, str | os.PathLike) else []


def _text(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], array: Any) -> Seen | None:
    """Columns of a text, and the text once more."""
    if not isinstance(array, np.ndarray) or array.ndim not in (1, 2):
        return None
    path = args[0] if args else kwargs.get("fname")
    seen: dict[str, Any] = {"rows": len(array), "files": _path(path), **_far(array)}
    delimiter = kwargs.get("delimiter") or " "
    skipped = kwargs.get("skip_header", kwargs.get("skiprows")) or 0
    names, used = kwargs.get("names"), kwargs.get("usecols")
    if (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not isinstance(skipped, int)
        or kwargs.get("unpack")
    ):
        return seen
    comment = kwargs.get("comments", "#")
    encoding = kwargs.get("encoding") or "utf-8"
    lines = lines_of(
        path,
        delimiter,
        encoding="latin-1" if encoding == "bytes" else encoding,
        skipped=skipped,
        header=names is True,
        comment=comment if isinstance(comment, str) else "",
    )
    if lines is None:
        return seen
    count = len(lines.rows)
    if array.dtype.names:
        columns = {name: array[name][:count].tolist() for name in array.dtype.names}
    else:
        table = array if array.ndim == 2 else array[:, None]
        columns = {f"column {place + 1}": table[:count, place].tolist() for place in range(table.shape[1])}
    places = (
        list(used)
        if isinstance(used, list | tuple | range)
        else [used]
        if isinstance(used, int)
        else list(range(len(columns)))
    )
    if len(places) != len(columns) or not all(isinstance(place, int) for place in places):
        return seen
    return {**seen, **compared(lines, columns, dict(zip(columns, places, strict=True)))}


def _array(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    path = args[0] if args else kwargs.get("file")
    is_array = isinstance(result, np.ndarray) and result.ndim
    return {
        "rows": len(result) if is_array else 0,
        "files": _path(path),
        **(_far(result) if is_array else {}),
    }


def _far(array: Any) -> dict[str, Any]:
    """Numbers far from all others in the columns of a table."""
    if array.ndim != 2 or array.shape[1] > _COLUMNS or array.dtype.kind not in "iuf":
        return {}
    part = array[:: -(-len(array) // _LEAST) or 1].astype(float)
    return of_columns({f"column {k + 1}": part[:, k] for k in range(part.shape[1])})


def _filled(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Seen | None:
    before = args[0] if args else None
    if not isinstance(before, np.ndarray) or before.dtype.kind != "f" or not before.size:
        return None
    part = before.reshape(-1)[:_MOST]
    seen: dict[str, Any] = {"filled": float(np.isnan(part).mean())}
    if (
        before.ndim == 2
        and before.shape[1] <= _COLUMNS
        and isinstance(result, np.ndarray)
        and before is not result
    ):
        rows = slice(None, None, -(-len(before) // _LEAST))
        pairs = [
            (f"column {k + 1}", far_fill(before[rows, k].astype(float), result[rows, k].astype(float)))
            for k in range(before.shape[1])
        ]
        far = [[name, *found] for name, found in pairs if found is not None]
        seen |= {"sentinels": far, "filled_in": True} if far else {}
    return seen


def _bytes(token: Any, args: tuple[Any, ...], kwargs: dict[str, Any], array: Any) -> Seen | None:
    """Bytes that became numbers: are these the numbers that were written?"""
    if not isinstance(array, np.ndarray):
        return None
    source = args[0] if args else None
    seen: dict[str, Any] = {"rows": len(array) if array.ndim else 1, "files": _path(source)}
    offset = kwargs.get("offset") or 0
    start = _first_bytes(source) if not offset else b""
    header = _HEADERS.get(start[:4])
    if header is not None and array.size:
        seen["misread_bytes"] = {"mistake": "header", "header": header, "type": str(array.dtype)}
    found = misread(np.asarray(array).reshape(-1)[:_MOST])
    if found:
        seen["misread_bytes"] = {**found, "type": str(array.dtype)}
    return seen


def _first_bytes(source: Any) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source[:16])
    if isinstance(source, str | os.PathLike) and Path(source).is_file():
        with Path(source).open("rb") as file:
            return file.read(16)
    return b""


def misread(numbers: Any) -> dict[str, Any]:
    """Signs that numbers were written with another type: twice as wide, bytes the other way round, whole numbers as floats."""
    kind, width = numbers.dtype.kind, numbers.dtype.itemsize
    if numbers.size < _LEAST:
        return {}
    if kind in "iu" and width == 1:
        plain = numbers[: numbers.size // 2 * 2].view(np.uint8).astype(np.int16)
        near = (plain < 16) | (plain >= 240)
        even, odd = near[0::2].mean(), near[1::2].mean()
        pair = numbers[: numbers.size // 2 * 2].view("<i2" if odd > even else ">i2")
        if max(even, odd) >= _HIGH and min(even, odd) <= _LOW and _steps(pair) < _spread(pair):
            return {"mistake": "halves", "meant": "int16" if odd > even else ">i2"}
    if kind in "iu" and width in (2, 4):
        exchanged = numbers.byteswap()
        if _spread(numbers) and _steps(exchanged) / max(_spread(exchanged), 1) < _SMOOTHER * _steps(
            numbers
        ) / _spread(numbers):
            return {"mistake": "byte order", "meant": numbers.dtype.newbyteorder().str}
    if kind == "f" and width >= 4:
        size = np.abs(numbers.astype(float))
        odd_ones = ~np.isfinite(size) | (size > 1e30) | ((size > 0) & (size < 1e-30))
        if odd_ones.mean() >= _NONSENSE:
            return {"mistake": "no floats", "meant": "int16"}
    return {}


def _steps(numbers: Any) -> float:
    return float(np.abs(np.diff(numbers.astype(float))).mean())


def _spread(numbers: Any) -> float:
    return float(numbers.astype(float).std())
