"""Parts that the program holds when training begins: row numbers, masks, lists and tables named for training and test."""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from netmend.adapters.preparation.beside import columns_of_items, user_frames
from netmend.adapters.preparation.tables import is_frame
from netmend.observe.sites import search_variables
from netmend.vocabulary import Site

if TYPE_CHECKING:
    from netmend.adapters.preparation.divisions import Divisions

_TRAINING = re.compile(r"(^|_)(tr|trn|train\w*|fit|learn\w*)(_|\d|$)", re.IGNORECASE)
_TESTED = re.compile(
    r"(^|_)(te|tst|test\w*|va|val|valid\w*|dev|eval\w*|held\w*|hold\w*|unseen)(_|\d|$)", re.IGNORECASE
)
_DRAWS = frozenset(("shuffle", "permutation", "sample", "randperm", "choice", "rand", "random", "permuted"))
_MOST_FRAMES = 6
_MOST_ROWS = 100_000
_FEWEST = 20


@dataclass(frozen=True)
class _Held:
    """A variable of a frame. `numbers`: row numbers; `mask`: which rows; `items`: the rows themselves."""

    name: str
    frame: FrameType
    numbers: Any = None
    mask: Any = None
    items: Any = None


def look(divisions: Divisions) -> None:
    """Divisions that no call has shown."""
    if divisions.kept:
        return
    for frame in user_frames(divisions.preparation, _MOST_FRAMES):
        held = search_variables(frame, partial(_held_in, frame))
        if _masks(divisions, held) or _numbers(divisions, held) or _items(divisions, held):
            return


def _held_in(frame: FrameType, variables: Mapping[str, Any]) -> list[_Held]:
    parts = (_part(name, thing, frame) for name, thing in list(variables.items()))
    return [part for part in parts if part is not None]


def _part(name: str, thing: Any, frame: FrameType) -> _Held | None:
    if not (_TRAINING.search(name) or _TESTED.search(name)):
        return None
    if (
        type(thing).__module__.startswith("torch")
        and hasattr(thing, "detach")
        and not thing.is_floating_point()
    ):
        thing = thing.detach().cpu().numpy()
    if isinstance(thing, np.ndarray) or hasattr(thing, "to_numpy"):
        array = thing if isinstance(thing, np.ndarray) else None if is_frame(thing) else thing.to_numpy()
        if array is not None:
            if array.ndim != 1 or len(array) > _MOST_ROWS:
                return None
            if array.dtype == bool:
                return _Held(name, frame, mask=array)
            return (
                _Held(name, frame, numbers=array)
                if array.dtype.kind in "iu" and len(np.unique(array)) == len(array)
                else None
            )
    if isinstance(thing, range):
        return _Held(name, frame, numbers=np.array(thing))
    if isinstance(thing, list) and _FEWEST // 4 <= len(thing) <= _MOST_ROWS:
        if all(type(item) is int for item in thing):
            return _Held(name, frame, numbers=np.array(thing)) if len(set(thing)) == len(thing) else None
        return (
            _Held(name, frame, items=thing)
            if isinstance(thing[0], str | os.PathLike | tuple | dict)
            else None
        )
    if is_frame(thing) and len(thing) <= _MOST_ROWS:
        return _Held(name, frame, items=thing)
    return None


def _masks(divisions: Divisions, held: list[_Held]) -> bool:
    for part in held:
        if part.mask is not None and len(part.mask) >= _FEWEST and 0.02 < part.mask.mean() < 0.98:
            tested = part.mask if _TESTED.search(part.name) else ~part.mask
            divisions.divided("mask", tested.astype(np.int8), (), site=_stored(divisions, part))
            return True
    return False


def _numbers(divisions: Divisions, held: list[_Held]) -> bool:
    for train, tested in _pairs([part for part in held if part.numbers is not None]):
        one, other = train.numbers, tested.numbers
        rows = int(max(one.max(initial=0), other.max(initial=0))) + 1
        if len(one) + len(other) >= max(_FEWEST, 0.7 * rows) and not len(np.intersect1d(one, other)):
            rows = _length_beside(train.frame, rows)
            divisions.by_numbers("row numbers", rows, one, other, (), site=_stored(divisions, tested))
            return True
    return False


def _length_beside(frame: FrameType, least: int) -> int:
    """The length of the tables and arrays that row numbers are of: the shortest that holds them all."""

    def lengths(variables: Mapping[str, Any]) -> list[int]:
        return [
            len(thing)
            for thing in variables.values()
            if hasattr(thing, "__len__")
            and hasattr(thing, "__getitem__")
            and least <= _len(thing) <= 1.5 * least
        ]

    return min(search_variables(frame, lengths), default=least)


def _len(thing: Any) -> int:
    try:
        return len(thing)
    except TypeError:  # a number in an array's clothes
        return -1


def _items(divisions: Divisions, held: list[_Held]) -> bool:
    for train, tested in _pairs([part for part in held if part.items is not None]):
        one, other = dict(columns_of_items(train.items)), dict(columns_of_items(tested.items))
        rows = len(train.items) + len(tested.items)
        if not one or one.keys() != other.keys() or rows < _FEWEST or not _draws(train.frame):
            continue
        columns = {name: [*one[name], *other[name]] for name in one}
        names = [tuple(str(value) for value in row) for row in zip(*columns.values(), strict=True)]
        if is_frame(train.items):
            names = [*train.items.index, *tested.items.index]
            if {*names} != {*range(rows)}:
                continue  # tables of two files
        elif len({*names}) < 0.9 * rows or {*names[: len(train.items)]} & {*names[len(train.items) :]}:
            continue
        order = sorted(range(rows), key=names.__getitem__)
        parts = np.array([0] * len(train.items) + [1] * len(tested.items), dtype=np.int8)[order]
        in_order = {name: [values[place] for place in order] for name, values in columns.items()}
        divisions.divided("lists", parts, (in_order,), site=_stored(divisions, tested))
        return True
    return False


def _draws(frame: FrameType) -> bool:
    """Do functions in reach of a frame draw anything? What comes in two parts from outside is nobody's division here."""
    codes = [
        frame.f_code,
        *(thing.__code__ for thing in list(frame.f_globals.values()) if isinstance(thing, FunctionType)),
    ]
    return any(_DRAWS & {*code.co_names} for code in codes)


def _pairs(held: list[_Held]) -> Iterator[tuple[_Held, _Held]]:
    tested = [part for part in held if _TESTED.search(part.name)]
    for train in held:
        if _TRAINING.search(train.name) and train not in tested:
            yield from ((train, part) for part in tested if type(train.items) is type(part.items))


def _stored(divisions: Divisions, part: _Held) -> Site | None:
    """The line that stored a variable last."""
    code, now = part.frame.f_code, part.frame.f_lasti
    here = divisions.preparation.sites.of(part.frame)
    stores = [
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.offset <= now
        and instruction.opname.startswith("STORE")
        and instruction.argval == part.name
    ]
    lines = [
        line
        for start, end, line in code.co_lines()
        if stores and start <= stores[-1] < end and line is not None
    ]
    return Site(here.file, lines[0]) if here is not None and lines else here
