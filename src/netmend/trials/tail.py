"""The end of what a trial printed, kept where it survives the trial: a killed process cannot tell it any more."""

from __future__ import annotations

import contextlib
import mmap
import os
from pathlib import Path

SIZE = 4_000  # bytes
_HEAD = 8  # bytes that count all bytes so far


class Tail:
    """A ring in a file that is mapped into memory: adding a line costs next to nothing."""

    def __init__(self, path: Path) -> None:
        with path.open("w+b") as file:
            file.truncate(_HEAD + SIZE)
            self._map = mmap.mmap(file.fileno(), _HEAD + SIZE)
        self._total = 0

    def add(self, line: str) -> None:
        data = line.encode("utf-8", errors="replace")[-SIZE + 1 :] + b"\n"
        at = self._total % SIZE
        first = data[: SIZE - at]
        self._map[_HEAD + at : _HEAD + at + len(first)] = first
        rest = data[len(first) :]
        self._map[_HEAD : _HEAD + len(rest)] = rest
        self._total += len(data)
        self._map[:_HEAD] = self._total.to_bytes(_HEAD, "little")


def read_tail(path: Path) -> str:
    """What a ring holds, oldest first."""
    with contextlib.suppress(OSError):
        content = path.read_bytes()
        total, ring = int.from_bytes(content[:_HEAD], "little"), content[_HEAD:]
        at = total % SIZE
        kept = ring[:at] if total <= SIZE else ring[at:] + ring[:at]
        return kept.decode("utf-8", errors="replace").strip("\n")
    return ""


def end_of_file(path: Path, size: int) -> str:
    """The last bytes of a file as text."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - size))
        return file.read().decode("utf-8", errors="replace")
    return ""
