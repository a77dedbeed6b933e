"""Thinning: which rows of an overgrown table stay.

The first rows and the newest quarter stay dense, and so does everything near an anomaly. Between them one row is kept
per equal stretch of steps; the stretch doubles as the run grows, so that the whole history stays covered evenly.
(Dropping every other row of the older half again and again would forget all but the last few percent of a long run.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from netmend.store.limits import Limits
from netmend.vocabulary.table import IntArray

ANOMALIES = frozenset({"nonfinite", "exception", "model changed"})

Mask = npt.NDArray[np.bool_]


def near(steps: IntArray, anomalies: IntArray, window: int) -> Mask:
    """Which steps lie within `window` of an anomaly (`anomalies` ascending)."""
    if not len(anomalies):
        return np.zeros(len(steps), dtype=np.bool_)
    after = np.searchsorted(anomalies, steps - window)  # the first anomaly at or after step - window
    inside = after < len(anomalies)
    found = np.zeros(len(steps), dtype=np.bool_)
    found[inside] = anomalies[after[inside]] <= steps[inside] + window
    return found


def kept(steps: IntArray, limit: int, anomalies: IntArray, limits: Limits) -> Mask:
    """Which rows stay (`steps` ascending): at most about three quarters of `limit`, plus what anomalies protect."""
    total = len(steps)
    quarter = limit // 4
    head = min(limits.head, quarter)
    mask = near(steps, anomalies, limits.window)
    mask[:head] = True
    mask[max(total - quarter, 0) :] = True
    middle = np.flatnonzero(~mask)
    if not len(middle):
        return mask
    room = max(3 * limit // 4 - head - quarter, 1)
    stretch = steps[middle] - min(int(steps[0]), 0)
    while True:
        first = np.concatenate([[True], stretch[1:] != stretch[:-1]])
        if np.count_nonzero(first) <= room:
            break
        stretch = stretch // 2
    mask[middle[first]] = True
    return mask


def kept_spans(spans: IntArray, limit: int, anomalies: IntArray, limits: Limits) -> Mask:
    """Which of the step ranges (rows of first, last; ascending) stay: the first and the newest, those near an
    anomaly, and of the others the longest; at most about three quarters of `limit` in all."""
    total = len(spans)
    mask = near(spans[:, 0], anomalies, limits.window) | near(spans[:, 1], anomalies, limits.window)
    mask[: limit // 4] = True
    mask[max(total - limit // 4, 0) :] = True
    others = np.flatnonzero(~mask)
    room = max(3 * limit // 4 - 2 * (limit // 4), 0)
    lengths = (spans[:, 1] - spans[:, 0])[others]
    mask[others[np.argsort(-lengths, kind="stable")[:room]]] = True
    return mask
