"""Reader: a run directory to a Trace; also of a run that is still being written, or was killed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from netmend.errors import RunUnreadable
from netmend.store.blobs import DOUBLE, HASHES, SINGLE, unpack, unpack_floats
from netmend.store.codec import CodecError, decoder_of, from_json
from netmend.store.process import is_gone
from netmend.store.rows import groups, read_blocks
from netmend.store.schema import APPLICATION_ID, SCHEMA_VERSION, open_for_reading, trace_file
from netmend.vocabulary.batch import BatchPrint
from netmend.vocabulary.event import Event
from netmend.vocabulary.facts import FACT_KINDS, Fact, RunFact
from netmend.vocabulary.protocol import Call, Pattern
from netmend.vocabulary.table import Table
from netmend.vocabulary.trace import Trace

DROPPED = {
    "facts": "{} further facts were not stored: there were too many.",
    "rows": "{} rows of tables were not stored: too many came between two writes, or there were too many tables.",
    "patterns": "{} steps followed further loop patterns that were not stored: there were too many different ones.",
    "events": "{} further events were not stored: there were too many.",
    "batches": "{} batches were not looked at: too many came between two writes.",
}


# What reading a file with wrong bytes in it can end in.
DAMAGE = (sqlite3.Error, ValueError, TypeError, LookupError, OverflowError, MemoryError, RecursionError)


def read_trace(path: Path, rank: int = 0) -> Trace:
    """The trace of one rank of the run in this directory; RunUnreadable says what is wrong with it otherwise."""
    with opened(path, rank) as connection:
        return Trace(
            facts=read_facts(connection),
            tables=read_tables(connection),
            patterns=tuple(read_patterns(connection)),
            events=tuple(
                from_json(Event, text)
                for (text,) in connection.execute("SELECT json FROM events ORDER BY id")
            ),
            batches=tuple(read_batches(connection)),
        )


def read_run(path: Path, rank: int = 0) -> RunFact | None:
    """Only the fact about the run as a whole; for lists of runs."""
    with opened(path, rank) as connection:
        runs = read_facts(connection, "WHERE kind = 'run'").get("run", {})
        return next((fact for fact in runs.values() if isinstance(fact, RunFact)), None)


@contextmanager
def opened(path: Path, rank: int) -> Iterator[sqlite3.Connection]:
    """A checked connection. Whatever goes wrong while it is used becomes RunUnreadable."""
    file = trace_file(path, rank)
    if not file.is_file():
        what = "holds no trace" if rank == 0 else f"holds no trace of rank {rank}"
        raise RunUnreadable(
            f"{path} {what} ({file.name} is missing); see the runs there are with: netmend runs"
        )
    try:
        with open_for_reading(file) as connection:
            check(connection, file)
            yield connection
    except DAMAGE as error:
        if "locked" in str(error):
            raise RunUnreadable(f"{file} is in use ({error}); try again in a moment") from error
        if "unable to open" in str(error):
            raise RunUnreadable(f"{file} cannot be opened; check its permissions") from error
        damage = " ".join(str(error).split())[:120] or type(error).__name__
        raise RunUnreadable(
            f"{file} is damaged ({damage}); record the run again, or save what is left with: "
            f'sqlite3 {file.name} ".recover"'
        ) from error
    except OSError as error:
        raise RunUnreadable(
            f"{file} cannot be read ({error.strerror or error}); check its permissions"
        ) from error


def check(connection: sqlite3.Connection, file: Path) -> None:
    """That this is a trace, and one that this version understands."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and tables == 0:
        raise RunUnreadable(
            f"{file} is empty: recording ended before anything was written; delete its directory"
        )
    if application != APPLICATION_ID:
        raise RunUnreadable(f"{file} is a database, but not a netmend trace; give the directory of a run")
    if version > SCHEMA_VERSION:
        raise RunUnreadable(
            f"{file} was written by a newer netmend (format {version}, this one reads up to {SCHEMA_VERSION}); "
            "upgrade: pip install -U netmend"
        )


def read_facts(connection: sqlite3.Connection, where: str = "") -> dict[str, dict[str, Fact]]:
    """Facts by kind and name. Kinds that only a later version knows are left out."""
    facts: dict[str, dict[str, Fact]] = {}
    for kind, name, text in connection.execute(
        f"SELECT kind, name, json FROM facts {where} ORDER BY position"
    ):
        if kind in FACT_KINDS:
            facts.setdefault(kind, {})[name] = from_json(FACT_KINDS[kind], text)
    runs = facts.get("run", {})
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    lost = tuple(
        sentence.format(meta[f"dropped {name}"])
        for name, sentence in DROPPED.items()
        if f"dropped {name}" in meta
    )
    for name, run in runs.items():
        if isinstance(run, RunFact):
            killed = run.status == "running" and is_gone(meta)
            runs[name] = replace(
                run, status="killed" if killed else run.status, missing=(*run.missing, *lost)
            )
    return facts


def read_tables(connection: sqlite3.Connection) -> dict[tuple[str, str], Table]:
    components = dict(connection.execute("SELECT id, component FROM streams"))
    found: dict[int, Table] = {}
    for number, kind, names, dtype in connection.execute(
        "SELECT id, kind, columns, number FROM kinds ORDER BY id"
    ).fetchall():
        columns: tuple[str, ...] = decoder_of(tuple[str, ...])(json.loads(names))
        if dtype not in (SINGLE, DOUBLE):
            raise CodecError(f"unknown number type {dtype!r:.20}")
        streams, steps, values = read_blocks(connection, number, dtype, len(columns))
        for stream, group in groups(streams, steps):
            found[stream] = Table(kind, components[stream], columns, steps[group], values[group])
    return {(table.kind, table.component): table for _, table in sorted(found.items())}


def read_patterns(connection: sqlite3.Connection) -> Iterator[Pattern]:
    spans: dict[int, list[tuple[int, int]]] = {}
    for number, first, last in connection.execute("SELECT pattern, first, last FROM spans ORDER BY first"):
        spans.setdefault(number, []).append((first, last))
    decode = decoder_of(tuple[Call, ...])
    for number, text, more in connection.execute("SELECT id, json, more_steps FROM patterns ORDER BY id"):
        yield Pattern(decode(json.loads(text)), tuple(spans.get(number, ())), more)


def read_batches(connection: sqlite3.Connection) -> Iterator[BatchPrint]:
    for text, hashes, features in connection.execute(
        "SELECT json, hashes, features FROM batches ORDER BY id"
    ):
        yield replace(
            from_json(BatchPrint, text),
            hashes=tuple(unpack(hashes, HASHES).tolist()),
            features=tuple(
                (a, b, c, d) for a, b, c, d in unpack_floats(features, SINGLE).reshape(-1, 4).tolist()
            ),
        )
