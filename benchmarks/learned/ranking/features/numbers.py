"""Small arithmetic that never fails: what cannot be said is NaN, what has no bound is cut off."""

from __future__ import annotations

import math

import numpy as np

from netmend.vocabulary.table import FloatArray

NAN = float("nan")
MOST = 12.0  # decades; a loss of 1e30 and one of 1e12 say the same


def number(value: float | int | bool | None) -> float:
    """A value that may be missing as a float; infinities are cut off."""
    if value is None or math.isnan(value):
        return NAN
    limit = float(10.0**MOST)
    return max(-limit, min(limit, float(value)))


def rounded(value: float) -> float:
    """Six digits: what differs only in the last bit must not fall on different sides of a tree's threshold."""
    return float(f"{value:.6g}")


def decades(value: float | None, base: float | None = 1.0) -> float:
    """log10(value / base), cut off at both ends; NaN where either is missing or negative."""
    if value is None or base is None or math.isnan(value) or math.isnan(base) or value < 0 or base < 0:
        return NAN
    if value == 0 and base == 0:
        return NAN
    if value == 0 or math.isinf(base):
        return -MOST
    if base == 0 or math.isinf(value):
        return MOST
    return max(-MOST, min(MOST, math.log10(value) - math.log10(base)))


def share(part: float, whole: float) -> float:
    return part / whole if whole else NAN


def middle(values: FloatArray | list[float]) -> float:
    """The median of the finite values."""
    known = finite(values)
    return float(np.median(known)) if len(known) else NAN


def highest(values: FloatArray | list[float]) -> float:
    known = finite(values)
    return number(float(known.max())) if len(known) else NAN


def lowest(values: FloatArray | list[float]) -> float:
    known = finite(values)
    return number(float(known.min())) if len(known) else NAN


def finite(values: FloatArray | list[float]) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    return found[np.isfinite(found)]
