"""Files that are identified by where they lie and when they changed: reading them all just to compare would cost more."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from netmend.locate.repository import SourceFile


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
