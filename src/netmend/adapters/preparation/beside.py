"""What stands beside the rows of a call: columns of its tables, and lists of the same length in the functions of the user's that lead to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.tables import is_frame, is_series
from netmend.observe.sites import search_variables

if TYPE_CHECKING:
    from netmend.adapters.preparation.watch import Preparation

_MOST_COLUMNS = 60  # of one table or object
_MOST_FRAMES = 3


def user_frames(preparation: Preparation, most: int = _MOST_FRAMES) -> Iterator[FrameType]:
    """The user's functions that lead here, the nearest first."""
    frame: FrameType | None = sys._getframe(2)
    found = 0
    while frame is not None and found < most:
        if preparation.sites.is_user_file(frame.f_code.co_filename):
            found += 1
            yield frame
        frame = frame.f_back


def beside(given: tuple[Any, ...], frames: Iterator[FrameType], rows: int) -> Iterator[tuple[str, Any]]:
    """Columns and lists with one value for each row, each once."""
    seen: set[int] = set()
    for thing in given:
        yield from _columns("", thing, rows, seen)
    for frame in frames:
        yield from search_variables(frame, lambda variables: _in_variables(variables, rows, seen))


def _in_variables(variables: Mapping[str, Any], rows: int, seen: set[int]) -> list[tuple[str, Any]]:
    return [
        column
        for name, thing in list(variables.items())
        if not name.startswith("__") and not isinstance(thing, ModuleType | type)
        for column in _columns(name, thing, rows, seen)
    ]


def _columns(name: str, thing: Any, rows: int, seen: set[int], depth: int = 2) -> Iterator[tuple[str, Any]]:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if is_frame(thing):
        if len(thing) == rows:
            for place, label in enumerate(list(thing.columns)[:_MOST_COLUMNS]):
                yield str(label), thing.iloc[:, place].to_numpy()
        return
    if is_series(thing):
        if len(thing) == rows:
            yield str(thing.name or name), thing.to_numpy()
        return
    if isinstance(thing, np.ndarray):
        if thing.ndim == 1 and len(thing) == rows:
            yield name, thing
        return
    if isinstance(thing, dict) and depth:
        for key, value in list(thing.items())[:_MOST_COLUMNS]:
            yield from _columns(str(key), value, rows, seen, depth - 1)
        return
    if isinstance(thing, list | tuple) and len(thing) == rows:
        yield from _of_list(name, thing)
        return
    if type(thing).__module__.startswith("torch") and getattr(thing, "ndim", 0) == 1 and len(thing) == rows:
        yield name, thing.detach().cpu().numpy()
    elif depth and _is_own(thing):
        for key, value in list(vars(thing).items())[:_MOST_COLUMNS]:
            yield from _columns(key, value, rows, seen, depth - 1)


def _is_own(thing: Any) -> bool:
    """An object of a class that the program wrote, such as a data set of its own."""
    module = sys.modules.get(type(thing).__module__)
    file = getattr(module, "__file__", "") or ""
    return hasattr(thing, "__getitem__") and hasattr(thing, "__dict__") and "site-packages" not in file


def columns_of_items(items: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a table, or of a list of rows."""
    if is_frame(items):
        for place, label in enumerate(list(items.columns)[:_MOST_COLUMNS]):
            yield str(label), items.iloc[:, place].to_numpy()
    else:
        yield from _of_list("items", items)


def _of_list(name: str, items: Any) -> Iterator[tuple[str, Any]]:
    first = items[0]
    if isinstance(first, Mapping):
        for key in list(first)[:_MOST_COLUMNS]:
            yield str(key), [item.get(key) for item in items]
    elif isinstance(first, tuple):
        for place, value in enumerate(first[:6]):
            if isinstance(value, str | int | os.PathLike):
                yield f"{name}[{place}]", [item[place] for item in items]
    elif isinstance(first, str | int | float | os.PathLike):
        yield name, list(items)


def length_of(thing: Any) -> int:
    return len(thing) if hasattr(thing, "__len__") else -1
