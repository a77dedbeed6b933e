"""Protocol: the part of a run writer that stores what the training loop calls, as patterns and step ranges."""

from __future__ import annotations

import sqlite3

import numpy as np

from netmend.store.codec import to_json
from netmend.store.thinning import Limits, kept_spans
from netmend.vocabulary.protocol import Call
from netmend.vocabulary.table import IntArray

Calls = tuple[Call, ...]


class PatternPart:
    """Each distinct sequence of calls is stored once; the steps at which it happened are ranges beside it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.dropped = 0  # steps whose pattern was new when there were too many already
        self._patterns: dict[Calls, int] = {}
        self._patterns_stored = 0
        self._calls: Calls | None = None  # of the newest step
        self._number: int | None = None
        self._first = 0
        self._last = 0
        self._changed: dict[tuple[int, int], int] = {}  # (pattern, first step) → last step, not yet stored
        self._written: list[tuple[int, int, int]] = []
        self._spans: set[tuple[int, int]] = set()  # in the file
        self._thinned: list[tuple[int, int]] = []

    @property
    def pending(self) -> int:
        return len(self._changed)

    def add(self, step: int, calls: Calls) -> None:
        if self._calls is None or (calls is not self._calls and calls != self._calls):
            self._calls = calls
            self._number = self._patterns.get(calls)
            if self._number is None and len(self._patterns) < self.limits.patterns:
                self._number = self._patterns[calls] = len(self._patterns)
            self._first = step
        elif step != self._last + 1:
            self._first = step
        self._last = step
        if self._number is None:
            self.dropped += 1
            return
        key = (self._number, self._first)
        if key in self._changed or len(self._changed) < self.limits.pending:
            self._changed[key] = step
        else:
            self.dropped += 1

    def write(self, connection: sqlite3.Connection) -> None:
        self._written = [(number, first, last) for (number, first), last in list(self._changed.items())]
        new = list(self._patterns.items())[self._patterns_stored :]
        connection.executemany(
            "INSERT OR IGNORE INTO patterns (id, json) VALUES (?, ?)",
            [(number, to_json(calls)) for calls, number in new],
        )
        connection.executemany(
            "INSERT INTO spans VALUES (?, ?, ?) "
            "ON CONFLICT (pattern, first) DO UPDATE SET last = max(last, excluded.last)",
            self._written,
        )

    def settle(self) -> None:
        self._patterns_stored = len(self._patterns)
        for number, first, last in self._written:
            self._spans.add((number, first))
            if self._changed.get((number, first)) == last:
                del self._changed[number, first]
        self._written = []

    def overgrown(self) -> bool:
        return len(self._spans) > self.limits.spans

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        """Turn the less telling ranges into a count of steps beside their pattern."""
        rows = connection.execute("SELECT pattern, first, last FROM spans ORDER BY first, last").fetchall()
        spans = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
        stays = kept_spans(spans[:, 1:], self.limits.spans, anomalies, self.limits)
        gone = spans[~stays].tolist()
        connection.executemany("DELETE FROM spans WHERE pattern = ? AND first = ?", [row[:2] for row in gone])
        connection.executemany(
            "UPDATE patterns SET more_steps = more_steps + ? WHERE id = ?",
            [(last - first + 1, number) for number, first, last in gone],
        )
        self._thinned = [(number, first) for number, first, _ in gone]

    def settle_thinned(self) -> None:
        self._spans.difference_update(self._thinned)
        self._thinned = []
