"""Collected: what a model does with one set of inputs, as plain arrays; made by an adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from netmend.adequacy.arrays import Floats, Integers

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
