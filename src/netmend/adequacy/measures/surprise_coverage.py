"""Surprise coverage: how much of the range of surprise a set of inputs reaches (Kim et al., ICSE 2019)."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Flags, Floats
from netmend.adequacy.measures.example import Example


def buckets_hit(values: Floats, lower: float, upper: float, buckets: int) -> Flags:
    """Which of equally wide buckets of [lower, upper] hold a value; values outside hit none."""
    hit = np.zeros(buckets, dtype=np.bool_)
    inside = values[(values >= lower) & (values <= upper)]  # false for NaN
    if not len(inside):
        return hit
    if upper <= lower:  # no range: one place, and something is there
        hit[:] = True
        return hit
    places = ((inside - lower) / (upper - lower) * buckets).astype(np.int64)
    hit[np.minimum(places, buckets - 1)] = True
    return hit


def surprise_coverage(values: Floats, lower: float, upper: float, buckets: int) -> float:
    """The share of the buckets that are hit."""
    return float(buckets_hit(values, lower, upper, buckets).mean())


MEASURE = surprise_coverage
EXAMPLES = (
    Example("two of four", {"values": [0.1, 0.2, 0.9], "lower": 0.0, "upper": 1.0, "buckets": 4}, 0.5),
    Example("both ends belong to it", {"values": [0.0, 1.0], "lower": 0.0, "upper": 1.0, "buckets": 2}, 1.0),
    Example(
        "outside, infinite, undefined",
        {"values": [-1.0, 2.0, float("inf"), float("nan")], "lower": 0.0, "upper": 1.0, "buckets": 4},
        0.0,
    ),
    Example("no range", {"values": [3.0], "lower": 3.0, "upper": 3.0, "buckets": 4}, 1.0),
    Example("no input", {"values": np.empty(0), "lower": 0.0, "upper": 1.0, "buckets": 4}, 0.0),
)
