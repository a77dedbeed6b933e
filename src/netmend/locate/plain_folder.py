"""A folder without git: files as they lie there, no history."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from netmend.locate.disk_files import DiskFiles
from netmend.locate.repository import Commit, SourceFile

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
