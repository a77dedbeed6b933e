"""RunWriter: stores a run while it happens. Cheap between flushes, safe against being killed at any moment."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from netmend.store.process import identity
from netmend.store.records import BatchPart, EventPart, FactPart, Part, PatternPart
from netmend.store.rows import RowPart
from netmend.store.schema import create_database, trace_file, transaction
from netmend.store.thinning import ANOMALIES, Limits
from netmend.version import VERSION
from netmend.vocabulary.batch import BatchPrint
from netmend.vocabulary.event import Event
from netmend.vocabulary.facts import Fact, RunFact
from netmend.vocabulary.protocol import Call

WRITERS: weakref.WeakSet[RunWriter] = weakref.WeakSet()


class RunWriter:
    """Buffers in memory, writes in one transaction per flush.

    Errors of the disk (sqlite3.Error, OSError) come out of `create`, `flush` and `close` and nowhere else. What was
    buffered stays buffered then, up to `Limits.pending` rows; what was committed stays readable. When a buffer is
    full, further items are counted instead of kept, and the reader says so in `RunFact.missing`.

    A process that is forked off inherits the object; there every method does nothing.
    """

    def __init__(self, connection: sqlite3.Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._open = True
        self._flushing = False
        self._close_wanted = False
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._facts = FactPart(limits)
        self._rows = RowPart(limits)
        self._patterns = PatternPart(limits)
        self._events = EventPart(limits)
        self._batches = BatchPart(limits)
        self._parts: dict[str, Part] = {
            "facts": self._facts,
            "rows": self._rows,
            "patterns": self._patterns,
            "events": self._events,
            "batches": self._batches,
        }
        self._dropped_stored: dict[str, int] = {}
        self._anomalies: list[int] = []
        WRITERS.add(self)

    @classmethod
    def create(cls, directory: Path, run: RunFact, rank: int = 0, limits: Limits | None = None) -> RunWriter:
        """Make the run directory and its trace; `run` is on disk when this returns."""
        directory.mkdir(parents=True, exist_ok=True)
        hide_from_git(directory)
        connection = create_database(trace_file(directory, rank))
        try:
            meta = identity() | {"netmend": VERSION, "created": repr(time.time()), "rank": str(rank)}
            with transaction(connection):
                connection.executemany("INSERT INTO meta VALUES (?, ?)", list(meta.items()))
            writer = cls(connection, limits or Limits())
            writer.fact(run)
            writer.flush()
        except BaseException:
            connection.close()
            raise
        return writer

    def fact(self, fact: Fact) -> None:
        """Remember a fact; one of the same kind and name replaces the former."""
        if self._open:
            self._facts.add(fact)

    def row(self, kind: str, component: str, step: int, values: Sequence[float]) -> None:
        """Add a row to a table. Values that are left out at the end are NaN."""
        if self._open:
            self._rows.add(kind, component, step, values)

    def pattern(self, step: int, calls: tuple[Call, ...]) -> None:
        """The calls that led to this step."""
        if self._open:
            self._patterns.add(step, calls)

    def event(self, event: Event) -> None:
        """Something that must not be forgotten."""
        if self._open:
            self._events.add(event)
            if event.kind in ANOMALIES and len(self._anomalies) < self._limits.anomalies:
                self._anomalies.append(event.step)

    def batch(self, batch: BatchPrint) -> None:
        """The fingerprint of a batch."""
        if self._open:
            self._batches.add(batch)

    @property
    def pending(self) -> int:
        """Number of buffered items."""
        return sum(part.pending for part in self._parts.values()) if self._open else 0

    def flush(self) -> None:
        """Write everything buffered in one transaction; then, rarely, thin what has outgrown its limit."""
        if not self._open or os.getpid() != self._owner:
            return
        with self._lock:
            # Signal handlers run inside other code of the same thread, this method included.
            if self._flushing or not self._open:
                return
            self._flushing = True
            try:
                self._write()
                self._thin()
            finally:
                self._flushing = False
                if self._close_wanted:
                    self.close()

    def _write(self) -> None:
        parts = [part for part in self._parts.values() if part.pending]
        if not parts and self._dropped() == self._dropped_stored:
            return
        with transaction(self._connection):
            for part in parts:
                part.write(self._connection)
            dropped = self._dropped()
            self._connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [(f"dropped {name}", str(count)) for name, count in dropped.items()],
            )
        for part in parts:
            part.settle()
        self._dropped_stored = dropped

    def _dropped(self) -> dict[str, int]:
        return {name: part.dropped for name, part in self._parts.items() if part.dropped}

    def _thin(self) -> None:
        overgrown = [part for part in self._parts.values() if part.overgrown()]
        if not overgrown:
            return
        anomalies = np.array(sorted(self._anomalies), dtype=np.int64)
        with transaction(self._connection):
            for part in overgrown:
                part.thin(self._connection, anomalies)
        for part in overgrown:
            part.settle_thinned()

    def close(self) -> None:
        """Flush, fold the write-ahead log into the file, close. A second call does nothing."""
        if not self._open or os.getpid() != self._owner:
            return
        with self._lock:
            if (
                self._flushing
            ):  # called by a signal handler in the middle of a flush, which closes when it is done
                self._close_wanted = True
                return
            try:
                self._close_wanted = False
                self.flush()
                with contextlib.suppress(sqlite3.OperationalError):
                    # A finished run is one plain file, readable on any medium. A reader that is looking right now
                    # prevents this; the log then stays beside the file and nothing is lost.
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._connection.execute("PRAGMA journal_mode = DELETE")
            finally:
                self._open = False
                self._connection.close()

    def abandon(self) -> None:
        """In a forked child: do nothing from now on, and never close the parent's database."""
        self._open = False
        # SQLite forbids using a connection across a fork, and closing is a use: the reference is leaked on purpose.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))


def hide_from_git(directory: Path) -> None:
    """Runs do not belong into the user's commits."""
    top = directory.parent.parent
    if top.name == ".netmend" and not (top / ".gitignore").exists():
        with contextlib.suppress(OSError):
            (top / ".gitignore").write_text("*\n")


def abandon_all() -> None:
    for writer in list(WRITERS):
        writer.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=abandon_all)
