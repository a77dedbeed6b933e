"""From the device's raw sums to the rows of a trace.

The kernels (and the torch operations that stand in for them) reduce a tensor to the numbers named by COLUMN_*; the entries
here remember what those numbers were taken from and turn them into columns, with the same meaning as in HostMeter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.adapters.torch.host_meter import RELU_LIKE

NAN = float("nan")
Numbers = npt.NDArray[np.float64]
Row = tuple[str, str, tuple[float, ...]]  # kind, component, values

COLUMNS = 11
(
    COLUMN_SUM,
    COLUMN_SQUARES,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_ZEROS,
    COLUMN_NONFINITE,
    COLUMN_NAN,
    COLUMN_SATURATED,
    COLUMN_SPREAD,  # squared distance of samples from their mean …
    COLUMN_COMPARED,  # … and sum of squares of the same values
    COLUMN_SILENT,
) = range(COLUMNS)

# Comparisons with kept samples use the same row, so that one kernel folds both.
COLUMN_CHANGE_SQUARES = COLUMN_SUM
COLUMN_KEPT_SQUARES = COLUMN_SQUARES
COLUMN_LARGEST_CHANGE = COLUMN_HIGH
COLUMN_UNCHANGED = COLUMN_ZEROS

# The values at or beyond which a bounded function is flat. A tanh counts as flat strictly beyond 0.99.
_BEYOND = float(np.nextafter(np.float32(0.99), np.float32(1)))
FLAT_ENDS: dict[str, tuple[float, float]] = {
    "sigmoid": (0.01, 0.99),
    "hardsigmoid": (0.0, 1.0),
    "tanh": (-_BEYOND, _BEYOND),
    "softsign": (-_BEYOND, _BEYOND),
    "relu6": (0.0, 6.0),
}


@dataclass(frozen=True)
class ActivationEntry:
    component: str
    slot: int
    count: int
    units: int  # 0: units were not looked at
    function: str | None
    saturation: bool

    def rows(self, results: Numbers) -> Iterator[Row]:
        numbers = results[self.slot]
        mean, rms, low, high = moments(numbers, self.count)
        std = math.sqrt(max(rms * rms - mean * mean, 0.0)) if math.isfinite(rms) else NAN
        silent = saturated = spread = NAN
        if self.units and (self.function in RELU_LIKE or low == 0.0):
            silent = float(numbers[COLUMN_SILENT]) / self.units
        if self.saturation:
            saturated = float(numbers[COLUMN_SATURATED]) / self.count
        if numbers[COLUMN_COMPARED] > 0 and math.isfinite(rms):
            spread = _root(numbers[COLUMN_SPREAD] / numbers[COLUMN_COMPARED])
        zero_share = NAN
        if (
            low == 0.0 or high == 0.0 or self.function in RELU_LIKE
        ):  # elsewhere HostMeter does not count them either
            zero_share = float(numbers[COLUMN_ZEROS]) / self.count
        nonfinite = float(numbers[COLUMN_NONFINITE])
        values = (mean, std, rms, low, high, zero_share, nonfinite, silent, saturated, spread)
        yield "activation", self.component, values


@dataclass(frozen=True)
class ParameterEntry:
    """Gradients or weights; `counts` are numbers of elements, more than were stored for a sparse gradient."""

    kind: str
    names: Sequence[str]
    slots: Sequence[int]
    counts: Sequence[int]
    stored: Sequence[int]
    drift_slots: Sequence[int] = ()

    def rows(self, results: Numbers) -> Iterator[Row]:
        for index, (name, slot, count, stored) in enumerate(
            zip(self.names, self.slots, self.counts, self.stored, strict=True)
        ):
            numbers = results[slot]
            mean, rms, low, high = moments(numbers, count)
            zero_share = (float(numbers[COLUMN_ZEROS]) + count - stored) / count
            values: tuple[float, ...] = (mean, rms, low, high, zero_share, float(numbers[COLUMN_NONFINITE]))
            if self.kind == "weight":
                drift = relative_change(results[self.drift_slots[index]]) if self.drift_slots else NAN
                values = (*values, drift)
            yield self.kind, name, values


@dataclass(frozen=True)
class UpdateEntry:
    names: Sequence[str]
    slots: Sequence[int]
    samples: Sequence[int]

    def rows(self, results: Numbers) -> Iterator[Row]:
        for name, slot, samples in zip(self.names, self.slots, self.samples, strict=True):
            numbers = results[slot]
            rms = _root(numbers[COLUMN_CHANGE_SQUARES] / samples)
            largest = float(numbers[COLUMN_LARGEST_CHANGE]) if not math.isnan(rms) else NAN
            unchanged = float(numbers[COLUMN_UNCHANGED]) / samples
            yield "update", name, (rms, relative_change(numbers), largest, unchanged)


Entry = ActivationEntry | ParameterEntry | UpdateEntry


def moments(numbers: Numbers, count: int) -> tuple[float, float, float, float]:
    """Mean, root mean square, minimum, maximum; a NaN among the values makes all four NaN."""
    if numbers[COLUMN_NAN] > 0:
        return NAN, NAN, NAN, NAN
    low, high = float(numbers[COLUMN_LOW]), float(numbers[COLUMN_HIGH])
    return float(numbers[COLUMN_SUM]) / count, _root(numbers[COLUMN_SQUARES] / count), low, high


def relative_change(numbers: Numbers) -> float:
    """Size of a change relative to what was there before."""
    change, kept = _root(numbers[COLUMN_CHANGE_SQUARES]), _root(numbers[COLUMN_KEPT_SQUARES])
    if kept == 0.0:
        return 0.0 if change == 0.0 else math.inf
    return change / kept


def _root(square: float) -> float:
    return math.sqrt(square) if square >= 0 else NAN
