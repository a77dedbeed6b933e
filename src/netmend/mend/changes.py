"""The single changes of a patch, the largest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from netmend.mend.dtypes import numbers
from netmend.mend.patch import Patch, Piece


@dataclass(frozen=True)
class Change:
    """One element: its place in the tensor, and its value before and after."""

    name: str
    place: tuple[int, ...]
    old: float
    new: float


def largest_changes(patch: Patch, count: int) -> tuple[Change, ...]:
    """The elements that move farthest; equal ones in the order of the patch."""
    found = [change for piece in patch.pieces for change in _largest_of(piece, count)]
    return tuple(sorted(found, key=lambda change: -_distance(change))[:count])


def _largest_of(piece: Piece, count: int) -> Iterable[Change]:
    old, new = numbers(piece.old, piece.dtype), numbers(piece.new, piece.dtype)
    with np.errstate(invalid="ignore"):
        distance = np.abs(new - old)
    distance[np.isnan(distance)] = np.inf  # from or to NaN: farther than anything
    distance[piece.old == piece.new] = -1.0
    for at in np.argsort(-distance, kind="stable")[: min(count, piece.touched)]:
        place = tuple(int(part) for part in np.unravel_index(int(piece.indices[at]), piece.shape))
        yield Change(piece.name, place, float(old[at]), float(new[at]))


def _distance(change: Change) -> float:
    distance = abs(change.new - change.old)
    return distance if distance == distance else np.inf
