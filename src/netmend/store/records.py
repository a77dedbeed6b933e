"""Records: the parts of a run writer that store facts, events, batch fingerprints and what the training loop calls."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Protocol

import numpy as np

from netmend.store.blobs import SINGLE, pack_hashes, round_to
from netmend.store.codec import to_json
from netmend.store.schema import text_bytes
from netmend.store.thinning import Limits, kept, kept_spans
from netmend.vocabulary.batch import BatchPrint
from netmend.vocabulary.event import Event
from netmend.vocabulary.facts import KIND_OF_FACT, Fact
from netmend.vocabulary.protocol import Call
from netmend.vocabulary.table import IntArray


class Part(Protocol):
    """A buffer in memory and the tables behind it.

    `write` runs inside a transaction and must leave the buffer as it is: only `settle`, called after the commit,
    forgets what was written. A failed commit thus loses nothing, and since every stored item has a number of its own, an
    interrupt just after the commit doubles nothing. What arrives between the two stays for next time.
    """

    @property
    def pending(self) -> int:
        """Number of buffered items."""

    @property
    def dropped(self) -> int:
        """Number of items that were not kept because a limit was reached."""

    def write(self, connection: sqlite3.Connection) -> None:
        """Hand the buffered items to the database."""

    def settle(self) -> None:
        """Forget what the last `write` wrote: it is committed."""

    def overgrown(self) -> bool:
        """Whether the tables have outgrown their limit."""

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        """Bring the tables back below their limit, keeping what lies near these steps."""

    def settle_thinned(self) -> None:
        """The last `thin` is committed."""


class Untrimmed:
    """A part that never has to be thinned."""

    def overgrown(self) -> bool:
        return False

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        """Nothing to do."""

    def settle_thinned(self) -> None:
        """Nothing to do."""


class FactPart(Untrimmed):
    """Facts by kind and name; the latest word counts, the place is that of the first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.dropped = 0
        self._positions: dict[tuple[str, str], int] = {}
        self._changed: dict[tuple[str, str], Fact] = {}
        self._written: list[tuple[tuple[str, str], Fact]] = []

    @property
    def pending(self) -> int:
        return len(self._changed)

    def add(self, fact: Fact) -> None:
        key = (KIND_OF_FACT[type(fact)], fact.name)
        if key not in self._positions:
            if len(self._positions) >= self.limits.facts:
                self.dropped += 1
                return
            self._positions[key] = len(self._positions)
        self._changed[key] = fact

    def write(self, connection: sqlite3.Connection) -> None:
        self._written = list(self._changed.items())
        connection.executemany(
            "INSERT OR REPLACE INTO facts VALUES (?, ?, CAST(? AS TEXT), ?)",
            [
                (self._positions[kind, name], kind, text_bytes(name), to_json(fact))
                for (kind, name), fact in self._written
            ],
        )

    def settle(self) -> None:
        for key, fact in self._written:
            if self._changed.get(key) is fact:
                del self._changed[key]
        self._written = []


class EventPart(Untrimmed):
    """Events are kept whatever happens; only a flood of them is cut off and counted."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.dropped = 0
        self._stored = 0
        self._events: list[Event] = []
        self._written = 0

    @property
    def pending(self) -> int:
        return len(self._events)

    def add(self, event: Event) -> None:
        if self._stored + len(self._events) < self.limits.events:
            self._events.append(event)
        else:
            self.dropped += 1

    def write(self, connection: sqlite3.Connection) -> None:
        events = self._events[:]
        self._written = len(events)
        connection.executemany(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?)",
            [
                (number, event.step, event.kind, to_json(event))
                for number, event in enumerate(events, start=self._stored)
            ],
        )

    def settle(self) -> None:
        del self._events[: self._written]
        self._stored += self._written
        self._written = 0


class BatchPart:
    """Fingerprints of batches: the first stay, later ones are thinned evenly."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.dropped = 0
        self._batches: list[BatchPrint] = []
        self._sizes: dict[int, int] = {}  # bytes by row in the file
        self._next = 0
        self._bytes = 0
        self._written: dict[int, int] = {}
        self._thinned: list[int] = []

    @property
    def pending(self) -> int:
        return len(self._batches)

    def add(self, batch: BatchPrint) -> None:
        if len(self._batches) < self.limits.pending_batches:
            self._batches.append(batch)
        else:
            self.dropped += 1

    def write(self, connection: sqlite3.Connection) -> None:
        rows = []
        for number, batch in enumerate(self._batches[:], start=self._next):
            features = np.array(batch.features, dtype=np.float64)
            # The long parts stand beside the JSON as blobs: a tenth of the size.
            plain = to_json(replace(batch, hashes=(), features=()))
            blobs = (pack_hashes(batch.hashes), round_to(features, SINGLE).tobytes())
            rows.append((number, batch.step, plain, *blobs))
        connection.executemany("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?)", rows)
        self._written = {row[0]: sum(map(len, row[2:])) for row in rows}

    def settle(self) -> None:
        del self._batches[: len(self._written)]
        self._next += len(self._written)
        self._sizes.update(self._written)
        self._bytes += sum(self._written.values())
        self._written = {}

    def overgrown(self) -> bool:
        too_large = self._bytes > self.limits.batch_bytes
        return len(self._sizes) > (4 if too_large else self.limits.batches)

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        # By number, not by step: the many batches of one evaluation share a step.
        numbers = np.array(list(self._sizes), dtype=np.int64)
        limit = min(len(numbers), self.limits.batches)
        protected = replace(self.limits, head=limit // 4)
        stays = kept(numbers, limit, np.empty(0, dtype=np.int64), protected)
        self._thinned = numbers[~stays].tolist()
        connection.executemany("DELETE FROM batches WHERE id = ?", [(number,) for number in self._thinned])

    def settle_thinned(self) -> None:
        for number in self._thinned:
            self._bytes -= self._sizes.pop(number)
        self._thinned = []


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
