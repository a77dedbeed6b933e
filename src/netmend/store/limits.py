"""Limits: how much of a run is kept, so that a run of any length stays small."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper bounds of what one trace file keeps. Tables are thinned; what cannot be thinned is counted instead.

    The numbers are chosen for size: the defaults bound a file at roughly 150 MB for the largest models and at a few
    MB for small ones, however long the run.
    """

    step_rows: int = 10_000  # rows of each "step" table
    rows: int = 2_000  # rows of each other table
    total_rows: int = (
        1_000_000  # rows of all other tables together (a model with 5,000 tensors gets 200 rows each)
    )
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
