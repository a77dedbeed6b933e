"""Schema: the tables of a trace file, and opening one for writing or reading."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

APPLICATION_ID = 0x6E6D_6E64  # "nmnd", in the header of the file
SCHEMA_VERSION = 1  # raised only when an older netmend could no longer read the file rightly

# Blocks are appended, never searched by stream: an index or a row per value would touch a page per table at each
# flush, while a block per kind costs one page or two.
TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE facts (position INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL)",
    "CREATE TABLE kinds (id INTEGER PRIMARY KEY, kind TEXT NOT NULL UNIQUE, columns TEXT NOT NULL, number TEXT NOT NULL)",
    "CREATE TABLE streams (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, component TEXT NOT NULL)",
    """CREATE TABLE blocks (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, count INTEGER NOT NULL,
       streams BLOB NOT NULL, steps BLOB NOT NULL, data BLOB NOT NULL)""",
    "CREATE TABLE patterns (id INTEGER PRIMARY KEY, json TEXT NOT NULL, more_steps INTEGER NOT NULL DEFAULT 0)",
    """CREATE TABLE spans (pattern INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
       PRIMARY KEY (pattern, first)) WITHOUT ROWID""",
    "CREATE TABLE events (id INTEGER PRIMARY KEY, step INTEGER NOT NULL, kind TEXT NOT NULL, json TEXT NOT NULL)",
    """CREATE TABLE batches (id INTEGER PRIMARY KEY, step INTEGER NOT NULL, json TEXT NOT NULL,
       hashes BLOB NOT NULL, features BLOB NOT NULL)""",
)

WRITER_PATIENCE_SECONDS = 1.0  # training waits meanwhile
READER_PATIENCE_SECONDS = 5.0
CHECKPOINT_PAGES = 128  # the write-ahead log of a killed run stays near half a megabyte


def trace_file(directory: Path, rank: int = 0) -> Path:
    """The trace of one rank inside a run directory."""
    return directory / ("trace.sqlite" if rank == 0 else f"trace-rank{rank}.sqlite")


def text_bytes(text: str) -> bytes:
    """For CAST(? AS TEXT): file names may hold bytes that are not UTF-8, and they reach names of components."""
    return text.encode("utf-8", "surrogatepass")


def create_database(path: Path) -> sqlite3.Connection:
    """A new trace file with empty tables. FileExistsError when there is one already."""
    with path.open("xb"):
        pass
    connection = sqlite3.connect(
        path, timeout=WRITER_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        with contextlib.suppress(sqlite3.OperationalError):
            # Some network file systems have no shared memory; SQLite then stays with its rollback journal,
            # which is as safe but makes readers wait.
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {CHECKPOINT_PAGES * 4096}")
        with transaction(connection):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            for statement in TABLES:
                connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # after "disk full" SQLite may have rolled back by itself
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def open_for_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection with one consistent view of the file, also while a run is writing to it.

    Reading a write-ahead log needs a shared-memory file beside it. Where that cannot be made (a read-only directory),
    the trace is read from a private copy when there is a log, and in place when there is none.
    """
    uri = path.resolve().as_uri()
    logs = [path.with_name(path.name + ending) for ending in ("-wal", "-journal")]
    with contextlib.ExitStack() as stack:
        try:
            connection = begin(f"{uri}?mode=ro")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
            logs = [log for log in logs if log.is_file() and log.stat().st_size]
            if logs:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="netmend-")))
                for source in (path, *logs):
                    shutil.copyfile(source, folder / source.name)
                connection = begin(f"{(folder / path.name).resolve().as_uri()}?mode=rw")
            else:
                connection = begin(f"{uri}?mode=ro&immutable=1")
        stack.callback(connection.close)
        yield connection


def begin(uri: str) -> sqlite3.Connection:
    """Open and start reading: SQLite touches the file only at the first statement that needs it."""
    connection = sqlite3.connect(uri, uri=True, timeout=READER_PATIENCE_SECONDS, isolation_level=None)
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogatepass")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
