"""What was collected of a model and its data, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

# Arrays that the measures take: rows are inputs.

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_CHUNK = 4_000_000  # numbers in one table of distances: 32 MB


def finite_rows(rows: Floats) -> Flags:
    """Which inputs have no NaN and no infinity among their numbers."""
    return np.asarray(np.isfinite(rows).all(axis=1), dtype=np.bool_)


def constant(rows: Floats) -> bool:
    """All rows are the same, but for rounding."""
    if len(rows) < 2:
        return True
    return bool(np.ptp(rows, axis=0).max(initial=0.0) <= 1e-9 * np.abs(rows).max(initial=0.0))


def nearest(points: Floats, targets: Floats) -> tuple[Integers, Floats]:
    """For each point the closest target and how far it is."""
    centre = targets.mean(axis=0)  # near the origin the squares lose fewer digits
    moved, goals = points - centre, targets - centre
    sizes = (goals**2).sum(axis=1)
    found = np.empty(len(points), dtype=np.int64)
    for part in chunks(len(points), len(targets)):
        found[part] = np.argmin(sizes - 2.0 * (moved[part] @ goals.T), axis=1)
    # Once more by subtraction: equal rows are then exactly 0 apart.
    return found, np.sqrt(((points - targets[found]) ** 2).sum(axis=1))


def chunks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of the rows of a table that would be too large as a whole."""
    step = max(1, _CHUNK // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


# Collected: what a model does with one set of inputs, as plain arrays; made by an adapter.

Rows = npt.NDArray[np.float32]  # kept small: there may be many


@dataclass(frozen=True)
class Collected:
    """Rows are inputs, in the order of `indices`."""

    traces: Rows  # what the model has made of each input before its last decision
    indices: Integers  # positions in the set as the user has it
    outputs: Rows | None = None  # None: the model does not answer with one row per input
    labels: npt.NDArray[Any] | None = None
    layers: Mapping[str, Rows] = field(default_factory=dict)
    total: int | None = None  # inputs of the whole set; None where it does not tell
    trace_of: str = ""  # where the traces were taken
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def points(self) -> Floats:
        """The traces with the digits that distances need."""
        return self.traces.astype(np.float64)
