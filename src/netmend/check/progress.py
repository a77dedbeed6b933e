"""A line on the terminal that tells how far the checking is."""

from __future__ import annotations

import time
from typing import IO


class Progress:
    """A line that tells how far it is, on a terminal, when it takes longer than a moment."""

    AFTER = 1.0  # seconds
    EVERY = 0.1

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._total = self._count = 0
        self._next = 0.0
        self._on_screen = False

    def begin(self, total: int) -> None:
        self._total, self._count = total, 0
        self._next = time.monotonic() + self.AFTER

    def step(self) -> None:
        self._count += 1
        now = time.monotonic()
        if self._stream is not None and now >= self._next:
            self._next = now + self.EVERY
            self._on_screen = True
            self._write(f"\r\x1b[Kchecking: {self._count} of {self._total} files")

    def end(self) -> None:
        if self._on_screen:
            self._write("\r\x1b[K")
            self._on_screen = False

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()
