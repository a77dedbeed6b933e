"""Facts and commits kept between questions, by content: what was read once is never read again, whatever the revision.

One SQLite file for each version of the format. Several processes may use it at once; a process that dies leaves it whole;
a damaged file is set aside and begun anew; where nothing can be written, facts live as long as the process.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from netmend.locate.parsing import Definition
from netmend.locate.postings import PackedFacts, unpacked_definitions
from netmend.locate.repository import Commit

FORMAT = 4  # raise it when words, parsing or packing change
_NAME = f"facts-{FORMAT}.sqlite"
_ASKED_AT_ONCE = 500
_TRIES, _PAUSE = 20, 0.05  # seconds between them
_LARGEST = 1_500_000_000  # bytes; then contents that are no longer used are dropped
_KEPT = tuple(field.name for field in fields(PackedFacts) if field.name != "definitions")
_TABLES = """
CREATE TABLE IF NOT EXISTS files (
    blob TEXT PRIMARY KEY, sizes BLOB, terms BLOB, counts BLOB, passages BLOB, passage_terms BLOB, passage_counts BLOB,
    imports TEXT, lines INTEGER, parsed INTEGER, cut INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS definitions (blob TEXT PRIMARY KEY, definitions BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS commits (hash TEXT PRIMARY KEY, time REAL, subject TEXT, files TEXT, body TEXT) WITHOUT ROWID;
"""


class FactsCache:
    def __init__(self, folder: Path | None) -> None:
        """A cache in a folder, or in memory where `folder` is None or cannot be written."""
        self.folder = folder
        self.note = ""
        self._unsaved: dict[str, PackedFacts] = {}  # what could not be written
        self._damaged = False
        self._database = self._open()

    def _open(self) -> sqlite3.Connection:
        if self.folder is None:
            return _connect(":memory:")
        file = self.folder / _NAME
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            try:
                return _connect(str(file))
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                _remove(file)
                return _connect(str(file))
        except (OSError, sqlite3.Error) as failed:
            self.folder = None
            self.note = f"The index could not be kept in {file.parent}: {failed}."
            return _connect(":memory:")

    def close(self) -> None:
        self._database.close()
        if self._damaged and self.folder is not None:
            _remove(self.folder / _NAME)

    def missing(self, blobs: Iterable[str]) -> list[str]:
        """Those of the contents that are not known yet, each once."""
        wanted = list(dict.fromkeys(blobs))
        known = {row[0] for row in self._ask("SELECT blob FROM files WHERE blob IN", wanted)}
        return [blob for blob in wanted if blob not in known and blob not in self._unsaved]

    def facts(self, blobs: Iterable[str]) -> dict[str, PackedFacts]:
        """What is known about the contents, without definitions."""
        wanted = list(dict.fromkeys(blobs))
        found = {blob: self._unsaved[blob] for blob in wanted if blob in self._unsaved}
        for blob, *values in self._ask(f"SELECT blob, {', '.join(_KEPT)} FROM files WHERE blob IN", wanted):
            found[blob] = PackedFacts(**dict(zip(_KEPT, values, strict=True)), definitions=b"")
        return found

    def definitions(self, blob: str) -> tuple[Definition, ...]:
        if blob in self._unsaved:
            return unpacked_definitions(self._unsaved[blob].definitions)
        for (packed,) in self._ask("SELECT definitions FROM definitions WHERE blob IN", [blob]):
            return unpacked_definitions(packed)
        return ()

    def store(self, facts: Sequence[tuple[str, PackedFacts]]) -> None:
        marks = ", ".join("?" * len(_KEPT))
        try:
            with self._database:
                self._database.executemany(
                    f"INSERT OR REPLACE INTO files VALUES (?, {marks})",
                    [(blob, *(getattr(one, name) for name in _KEPT)) for blob, one in facts],
                )
                self._database.executemany(
                    "INSERT OR REPLACE INTO definitions VALUES (?, ?)",
                    [(blob, one.definitions) for blob, one in facts],
                )
        except sqlite3.Error as failed:  # a full disk, a lock that is never given back
            self._unsaved.update(facts)
            self._tell(failed)

    def commits(self, hashes: Sequence[str]) -> dict[str, Commit]:
        return {
            name: Commit(name, time, subject, tuple(files.split("\0")) if files else (), body)
            for name, time, subject, files, body in self._ask(
                "SELECT hash, time, subject, files, body FROM commits WHERE hash IN", hashes
            )
        }

    def store_commits(self, commits: Iterable[Commit]) -> None:
        rows = [
            (c.hash, c.time, _storable(c.subject), _storable("\0".join(c.files)), _storable(c.body))
            for c in commits
        ]
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as failed:
            self._tell(failed)  # the caller has them; they are asked of git again next time

    def trim(self, used: Iterable[str]) -> None:
        """Drop contents that are not among the used ones, once the file has grown large."""
        if self.folder is None or (self.folder / _NAME).stat().st_size < _LARGEST:
            return
        with suppress(sqlite3.Error):  # somebody else is using it: another time
            with self._database:
                self._database.execute("CREATE TEMP TABLE used (blob TEXT PRIMARY KEY) WITHOUT ROWID")
                self._database.executemany(
                    "INSERT OR IGNORE INTO used VALUES (?)", [(blob,) for blob in used]
                )
                self._database.execute("DELETE FROM files WHERE blob NOT IN (SELECT blob FROM used)")
                self._database.execute("DELETE FROM definitions WHERE blob NOT IN (SELECT blob FROM used)")
                self._database.execute("DROP TABLE used")
            self._database.execute("VACUUM")

    def _ask(self, question: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        try:
            for start in range(0, len(names), _ASKED_AT_ONCE):
                some = names[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                yield from self._database.execute(f"{question} ({marks})", some)
        except sqlite3.OperationalError as failed:
            self._tell(failed)
        except sqlite3.DatabaseError as failed:  # damaged inside: what is not found is read again
            self._damaged = True
            self._tell(failed)

    def _tell(self, failed: Exception) -> None:
        self.note = f"The index in {self.folder} could not be kept or read: {failed}."


def _remove(file: Path) -> None:
    for end in ("", "-wal", "-shm"):
        with suppress(OSError):
            file.with_name(file.name + end).unlink()


def _connect(place: str) -> sqlite3.Connection:
    """Two that begin a file at the same time get in each other's way: switching to WAL does not wait for a lock."""
    for _ in range(_TRIES):
        try:
            return _connect_once(place)
        except sqlite3.OperationalError as failed:
            if "locked" not in str(failed):
                raise
        time.sleep(_PAUSE)
    return _connect_once(place)


def _connect_once(place: str) -> sqlite3.Connection:
    database = sqlite3.connect(place, timeout=60)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.executescript(_TABLES)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _storable(text: str) -> str:
    # SQLite takes UTF-8 only; names with other bytes come as lone surrogates and match no file then.
    return text.encode("utf-8", "replace").decode()
