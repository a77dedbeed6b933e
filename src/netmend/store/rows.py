"""Rows: the part of a run writer that stores tables over steps, one block of rows per kind and flush."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from netmend.store.blobs import STEPS, STREAMS, number_type, round_to, unpack, unpack_integers
from netmend.store.schema import text_bytes
from netmend.store.thinning import Limits, kept
from netmend.vocabulary.table import COLUMNS, FloatArray, IntArray

Row = tuple[str, str, int, tuple[float, ...]]  # kind, component, step, values

WIDTHS = {kind: len(columns) for kind, columns in COLUMNS.items()}
BLOCK_ROWS = 8_192  # of the blocks that thinning writes; keeps single blobs below half a megabyte


class RowPart:
    """Rows are buffered as they come and sorted into blocks only when they are written."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._dropped = 0
        self._rows: list[Row] = []
        self._kinds: dict[str, int] = {}
        self._streams: dict[tuple[str, str], int] = {}
        self._kinds_stored = 0
        self._streams_stored = 0
        self._kind_of: list[str] = []  # by stream
        self._counts: dict[int, int] = {}  # rows in the file, by stream
        self._large: set[int] = set()  # streams that have outgrown their limit
        self._thresholds: dict[int, int] = {}  # raised for streams that anomalies keep large
        self._next_block = 0
        self._written = 0
        self._written_streams: list[int] = []
        self._written_blocks = 0
        self._thinned: dict[int, int] = {}

    @property
    def pending(self) -> int:
        return len(self._rows)

    @property
    def dropped(self) -> int:
        return self._dropped + self._written - len(self._written_streams)

    def add(self, kind: str, component: str, step: int, values: Sequence[float]) -> None:
        """Called at every step of the training: nothing but an append."""
        if len(values) > WIDTHS[kind]:
            raise ValueError(f"a row of {kind!r} has {WIDTHS[kind]} values, not {len(values)}")
        if len(self._rows) < self.limits.pending:
            self._rows.append((kind, component, step, tuple(values)))
        else:
            self._dropped += 1

    def write(self, connection: sqlite3.Connection) -> None:
        rows = self._rows[:]
        self._written = len(rows)
        self._written_streams = []
        by_kind: dict[str, list[tuple[int, Row]]] = {}
        for row in rows:
            stream = self._stream(row[0], row[1])
            if stream is not None:
                by_kind.setdefault(row[0], []).append((stream, row))
                self._written_streams.append(stream)
        self._write_names(connection)
        self._written_blocks = len(by_kind)
        for number, (kind, members) in enumerate(by_kind.items(), start=self._next_block):
            streams = np.array([stream for stream, _ in members], dtype=np.int64)
            steps = np.array([row[2] for _, row in members], dtype=np.int64)
            values = padded([row[3] for _, row in members], WIDTHS[kind])
            self._insert(connection, number, kind, streams, steps, values)

    def _stream(self, kind: str, component: str) -> int | None:
        """The number of a table; None when there are too many tables."""
        key = (kind, component)
        found = self._streams.get(key)
        if found is None and len(self._streams) < self.limits.streams:
            self._kinds.setdefault(kind, len(self._kinds))
            found = self._streams[key] = len(self._streams)
            self._kind_of.append(kind)
        return found

    def _write_names(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "INSERT OR IGNORE INTO kinds VALUES (?, ?, ?, ?)",
            [
                (number, kind, json.dumps(COLUMNS[kind]), number_type(kind))
                for kind, number in list(self._kinds.items())[self._kinds_stored :]
            ],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO streams VALUES (?, ?, CAST(? AS TEXT))",
            [
                (number, self._kinds[kind], text_bytes(component))
                for (kind, component), number in list(self._streams.items())[self._streams_stored :]
            ],
        )

    def _insert(
        self,
        connection: sqlite3.Connection,
        number: int,
        kind: str,
        streams: IntArray,
        steps: IntArray,
        values: FloatArray,
    ) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
            (
                number,
                self._kinds[kind],
                len(steps),
                streams.astype(STREAMS).tobytes(),
                steps.astype(STEPS).tobytes(),
                round_to(values, number_type(kind)).tobytes(),
            ),
        )

    def settle(self) -> None:
        del self._rows[: self._written]
        self._dropped = self.dropped
        self._kinds_stored = len(self._kinds)
        self._streams_stored = len(self._streams)
        for stream in self._written_streams:
            self._counts[stream] = self._counts.get(stream, 0) + 1
        for stream in set(self._written_streams):
            limit = self.limits.rows_of(self._kind_of[stream], len(self._streams))
            if self._counts[stream] > max(limit, self._thresholds.get(stream, 0)):
                self._large.add(stream)
        self._next_block += self._written_blocks
        self._written, self._written_streams, self._written_blocks = 0, [], 0

    def overgrown(self) -> bool:
        return bool(self._large)

    def thin(self, connection: sqlite3.Connection, anomalies: IntArray) -> None:
        self._thinned = {}
        for kind in sorted({self._kind_of[stream] for stream in self._large}):
            streams, steps, values = read_blocks(
                connection, self._kinds[kind], number_type(kind), WIDTHS[kind]
            )
            limit = self.limits.rows_of(kind, len(self._streams))
            stays = np.ones(len(steps), dtype=np.bool_)
            for stream, group in groups(streams, steps):
                if stream in self._large:
                    stays[group] = kept(steps[group], limit, anomalies, self.limits)
                    self._thinned[stream] = int(np.count_nonzero(stays[group]))
            connection.execute("DELETE FROM blocks WHERE kind = ?", (self._kinds[kind],))
            streams, steps, values = streams[stays], steps[stays], values[stays]
            for start in range(0, len(steps), BLOCK_ROWS):
                part = slice(start, start + BLOCK_ROWS)
                self._insert(connection, self._next_block, kind, streams[part], steps[part], values[part])
                self._next_block += 1

    def settle_thinned(self) -> None:
        self._counts.update(self._thinned)
        # Without the margin a table full of protected rows would be rewritten at every flush.
        self._thresholds.update({stream: count + count // 4 for stream, count in self._thinned.items()})
        self._large.difference_update(self._thinned)
        self._thinned = {}


def padded(rows: list[tuple[float, ...]], width: int) -> FloatArray:
    """The rows as a matrix; NaN where a row is short."""
    if all(len(row) == width for row in rows):
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)
    values = np.full((len(rows), width), np.nan)
    for index, row in enumerate(rows):
        values[index, : len(row)] = row
    return values


def groups(streams: IntArray, steps: IntArray) -> Iterator[tuple[int, IntArray]]:
    """For each stream the places of its rows, by step; rows of the same step stay in the order they came in."""
    order = np.lexsort((steps, streams))
    boundaries = np.flatnonzero(np.diff(streams[order])) + 1
    for group in np.split(order, boundaries):
        if len(group):
            yield int(streams[group[0]]), group


def read_blocks(
    connection: sqlite3.Connection, kind: int, number: str, width: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Stream, step and values of all rows of one kind, in the order in which they were written."""
    streams: list[IntArray] = [np.empty(0, dtype=np.int64)]
    steps: list[IntArray] = [np.empty(0, dtype=np.int64)]
    values: list[FloatArray] = [np.empty((0, width))]
    query = "SELECT count, streams, steps, data FROM blocks WHERE kind = ? ORDER BY id"
    for count, stream_blob, step_blob, data in connection.execute(query, (kind,)):
        streams.append(unpack_integers(stream_blob, STREAMS))
        steps.append(unpack_integers(step_blob, STEPS))
        values.append(unpack(data, number).astype(np.float64).reshape(count, width))
        if not len(streams[-1]) == len(steps[-1]) == count:
            raise ValueError("a block of rows does not have the length it claims")
    return np.concatenate(streams), np.concatenate(steps), np.concatenate(values)
