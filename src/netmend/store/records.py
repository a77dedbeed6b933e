"""Records: the parts of a run writer that store facts, events and batch fingerprints."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np

from netmend.store.blobs import SINGLE, pack_hashes, round_to
from netmend.store.codec import to_json
from netmend.store.schema import text_bytes
from netmend.store.thinning import Limits, kept
from netmend.vocabulary.batch import BatchPrint
from netmend.vocabulary.event import Event
from netmend.vocabulary.facts import KIND_OF_FACT, Fact
from netmend.vocabulary.table import IntArray


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
