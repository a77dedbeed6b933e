"""A folder without git as a repository, and its files as they lie on the disk."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from netmend.locate.repository import Commit, SourceFile

# Files that are identified by where they lie and when they changed: reading them all just to compare would cost more.


class DiskFiles:
    """Files below a folder, by the identity that `identify` gave them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: dict[str, str] = {}

    def __contains__(self, blob: str) -> bool:
        return blob in self._paths

    def identify(self, path: str) -> SourceFile | None:
        """A regular file, or None for links and whatever cannot be looked at."""
        try:
            status = os.lstat(self._root / path)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        # The time of the inode's change cannot be set back by tools that restore the time of a file's change.
        told = f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0{status.st_ino}"
        blob = "disk-" + hashlib.sha1(os.fsencode(told), usedforsecurity=False).hexdigest()
        self._paths[blob] = path
        return SourceFile(path, blob, status.st_size)

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for blob in blobs:
            try:
                yield blob, (self._root / self._paths[blob]).read_bytes()
            except (OSError, KeyError):
                continue


# A folder without git: files as they lie there, no history.

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})


class PlainFolder:
    revision: str | None = None
    head: str | None = None

    def __init__(self, root: Path) -> None:
        self.root: Path | None = root.resolve()
        self._folder = self.root
        self._disk = DiskFiles(self._folder)
        self._links = 0
        self._unreadable = 0

    @property
    def name(self) -> str:
        return self._folder.name

    def files(self) -> tuple[SourceFile, ...]:
        self._links = self._unreadable = 0
        found = []
        for folder, inner, names in os.walk(self._folder, onerror=self._count_unreadable):
            # Hidden folders hold caches and settings; pyvenv.cfg marks a virtual environment.
            inner[:] = sorted(
                name
                for name in inner
                if not name.startswith(".")
                and name not in _SKIPPED
                and not Path(folder, name, "pyvenv.cfg").exists()
            )
            for name in names:
                if not name.endswith(".py"):
                    continue
                full = Path(folder, name)
                path = full.relative_to(self._folder).as_posix()
                file = self._disk.identify(path)
                if file is not None:
                    found.append(file)
                elif full.is_symlink():
                    self._links += 1
        return tuple(sorted(found, key=lambda file: file.path))

    def _count_unreadable(self, _: OSError) -> None:
        self._unreadable += 1

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        yield from self._disk.read(blobs)

    def revisions(self, before: float | None, limit: int) -> tuple[str, ...]:
        return ()

    def commits(self, hashes: Iterable[str]) -> Iterator[Commit]:
        return iter(())

    def notes(self) -> tuple[str, ...]:
        notes = ["There is no git history here: recent changes could not be taken into account."]
        if self._links:
            notes.append(f"{self._links} symbolic link{'s' if self._links > 1 else ''} left out.")
        if self._unreadable:
            notes.append(f"{self._unreadable} folder{'s' if self._unreadable > 1 else ''} could not be read.")
        return tuple(notes)
