"""How much of a run is kept: the limits, and which rows of an overgrown table stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.vocabulary.table import IntArray

# Limits: how much of a run is kept, so that a run of any length stays small.


@dataclass(frozen=True)
class Limits:
    """Upper bounds of what one trace file keeps. Tables are thinned; what cannot be thinned is counted instead.

    The numbers are chosen for size: the defaults bound a file at roughly 150 MB for the largest models and at a few
    MB for small ones, however long the run.
    """

    step_rows: int = 10_000  # rows of each "step" table
    rows: int = 2_000  # rows of each other table
    total_rows: int = 1_000_000  # of all other tables together (a model with 5,000 tensors gets 200 each)
    fewest_rows: int = 200  # … but never fewer than this per table
    streams: int = 20_000  # tables
    facts: int = 50_000
    patterns: int = 500  # distinct sequences of calls between two steps
    spans: int = 4_000  # step ranges of all patterns together
    events: int = 10_000  # events are never thinned; a flood beyond this is counted
    batches: int = 4_000
    batch_bytes: int = 64_000_000  # hashes and feature statistics of all batches together
    pending: int = 200_000  # rows held in memory between two flushes
    pending_batches: int = 2_000
    head: int = 50  # first rows of a table that are never dropped
    window: int = 25  # steps on both sides of an anomaly within which no row is dropped
    anomalies: int = 100  # anomalies that are protected so (the earliest)

    def rows_of(self, kind: str, streams: int) -> int:
        """Rows that one table of this kind may hold when there are so many tables."""
        if kind == "step":
            return self.step_rows
        return min(self.rows, max(self.fewest_rows, self.total_rows // max(streams, 1)))


# Thinning: which rows of an overgrown table stay.
#
# The first rows and the newest quarter stay dense, and so does everything near an anomaly. Between them one row is kept
# per equal stretch of steps; the stretch doubles as the run grows, so that the whole history stays covered evenly.
# (Dropping every other row of the older half again and again would forget all but the last few percent of a long run.)

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
