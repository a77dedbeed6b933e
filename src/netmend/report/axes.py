"""Axes of plots: range, linear or logarithmic position, and round tick values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netmend.report.numbers import UNKNOWN, setting
from netmend.vocabulary.table import FloatArray

_LARGEST = 1e300  # differences of larger values overflow
_SMALLEST = 1e-300
_DECADES = 1e-12  # of the highest value: what is smaller lies on the lower edge of a logarithmic axis
_CROWD = (10, 90)  # percentiles between which most values lie
_ROOM = 1.5  # times their distance, kept on either side where an axis is clipped
_HIDDEN = 20  # times that distance, from which the whole range shows a flat line and a spike


@dataclass(frozen=True)
class Axis:
    """Maps values between `low` and `high` onto 0..1; what lies beyond them, onto the edges."""

    low: float
    high: float
    log: bool = False

    @staticmethod
    def over(series: Sequence[FloatArray], log: bool = False) -> Axis | None:
        """An axis for all finite values; None without any.

        `log` asks for one on which a spike does not flatten the rest: logarithmic, or clipped where a value is negative.
        """
        known = [finite for part in series if len(finite := part[np.isfinite(part)])]
        if not known:
            return None
        values = np.concatenate(known)
        low, high = max(float(values.min()), -_LARGEST), min(float(values.max()), _LARGEST)
        if log and low >= 0:
            above = values[(values > _SMALLEST) & (values >= high * _DECADES)]
            if len(above) and float(above.min()) < high:
                return Axis(float(above.min()), high, True)
        elif log and (clipped := _clipped(known, low, high)) is not None:
            return clipped
        if low == high:
            # A constant still needs room above and below.
            pad = abs(low) * 0.5 or 1.0
            return Axis(min(low - pad, 0.0) if low > 0 else low - pad, high + pad)
        return Axis(low, high)

    @property
    def middle(self) -> float:
        if self.log:
            return math.exp((math.log(self.low) + math.log(self.high)) / 2)
        return self.low + (self.high - self.low) / 2

    def position(self, value: float) -> float | None:
        """Where the value lies, 0 at `low` and 1 at `high`; None for what has no place on the axis."""
        if not math.isfinite(value) or (self.log and value < 0):
            return None
        if self.log:
            start = math.log(self.low)
            found = (math.log(max(value, self.low)) - start) / (math.log(self.high) - start)
        else:
            found = (min(max(value, -_LARGEST), _LARGEST) - self.low) / (self.high - self.low)
        return min(max(found, 0.0), 1.0)

    def ticks(self, wanted: int = 4) -> list[float]:
        """Round values within the axis, about as many as wanted."""
        return (
            _log_ticks(self.low, self.high, wanted)
            if self.log
            else _linear_ticks(self.low, self.high, wanted)
        )


def _clipped(series: Sequence[FloatArray], low: float, high: float) -> Axis | None:
    """An axis for where most values of each line lie; None where little would be gained."""
    crowds = np.array([np.percentile(values, _CROWD) for values in series])
    lowest, highest = float(crowds[:, 0].min()), float(crowds[:, 1].max())
    width = highest - lowest
    if not 0 < width * _HIDDEN < high - low:
        return None
    return Axis(max(low, lowest - _ROOM * width), min(high, highest + _ROOM * width))


def tick_label(value: float, unit: str = "number") -> str:
    """A short label: 0.05, 1,500, 2e-6, 75 %."""
    if not math.isfinite(value):
        return UNKNOWN
    if unit == "share":
        return f"{setting(float(f'{value * 100:.3g}'))} %"
    if unit == "step" or 1000 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return setting(float(f"{value:.3g}"))


def _linear_ticks(low: float, high: float, wanted: int) -> list[float]:
    raw = (high - low) / max(1, wanted)
    if raw < _SMALLEST:
        return [low, high]
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _log_ticks(low: float, high: float, wanted: int) -> list[float]:
    lowest, highest = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((highest - lowest) / wanted))
    factors = (1, 2, 5) if highest - lowest <= 2 else (1,)
    found = [factor * 10.0**power for power in range(lowest, highest + 1, every) for factor in factors]
    inside = [value for value in found if low * 0.999 <= value <= high * 1.001]
    return inside if len(inside) >= 2 else [low, high]
