"""APFD: how early an order of inputs finds the mistakes, where labels are known."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Flags, Integers
from netmend.adequacy.measures.example import Example


def fault_order(order: Integers, wrong: Flags) -> float:
    """Average percentage of faults detected: near 1 when all mistakes come first, 0.5 for a random order; NaN without any mistake."""
    count, faults = len(order), int(np.count_nonzero(wrong))
    if not faults:
        return float("nan")
    places = np.flatnonzero(np.asarray(wrong, dtype=bool)[order]) + 1
    return float(1.0 - places.sum() / (count * faults) + 1.0 / (2 * count))


MEASURE = fault_order
EXAMPLES = (
    Example("both mistakes first", {"order": [2, 0, 1, 3], "wrong": [True, False, True, False]}, 0.75),
    Example("both mistakes last", {"order": [1, 3, 0, 2], "wrong": [True, False, True, False]}, 0.25),
    Example("all wrong: the order does not matter", {"order": [0, 1], "wrong": [True, True]}, 0.5),
    Example("nothing wrong", {"order": [0, 1], "wrong": [False, False]}, float("nan")),
)
