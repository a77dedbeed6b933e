"""Live status of a run on stderr: one line at the bottom of a terminal, or a rare plain line in a log."""

from __future__ import annotations

import atexit
import os
import time
from typing import IO

from netmend.report.numbers import measure, plural, share

_REDRAW_SECONDS = 0.5
_LOG_SECONDS = 30.0
_FEWEST_ROWS = 10  # a smaller window has no row to spare


class LiveStatus:
    """Shows steps, loss and overhead while a program trains.

    On a terminal the last row is taken out of the scrolled region (as package managers do), so that the program's own
    prints and progress bars keep the rest of the screen to themselves. Elsewhere a line is written every 30 seconds.
    A stream that fails is left alone from then on: the status must never disturb the training.
    """

    def __init__(self, stream: IO[str] | None, enabled: bool | None = None, quiet: bool = False) -> None:
        """`enabled` forces the terminal line (True) or the plain lines (False); None looks at the stream."""
        self._stream = stream
        self._clock = time.monotonic
        self._process = os.getpid()
        self._rows = 0  # of the terminal when the region was set; 0: no region
        self._on_terminal = _is_terminal(stream) if enabled is None else enabled
        self._pause = _REDRAW_SECONDS if self._on_terminal else _LOG_SECONDS
        self._off = quiet or stream is None
        self._due = float("inf") if self._off else self._clock() + self._pause

    def update(self, steps: int, loss: float | None, overhead: float | None, force: bool = False) -> None:
        """Tell the latest figures; cheap unless a redraw is due."""
        now = self._clock()
        if now < self._due and not force:
            return
        # A forked child has inherited the status but not the right to draw it.
        if self._off or os.getpid() != self._process:
            self._due = float("inf")
            return
        self._due = now + self._pause
        text = status_text(steps, loss, overhead)
        if self._on_terminal:
            self._draw(text)
        else:
            self._write(text + "\n")

    def close(self) -> None:
        """Give the bottom row back. Nothing is shown afterwards; closing twice does no harm."""
        if self._rows and os.getpid() == self._process:
            rows = self._rows
            self._rows = 0
            # Setting the region moves the cursor, so its place is kept around each move.
            self._write(f"\x1b7\x1b[r\x1b[{rows};1H\x1b[2K\x1b8")
        self._off = True
        self._due = float("inf")
        atexit.unregister(self.close)

    def _draw(self, text: str) -> None:
        prefix = ""
        size = _terminal_size(self._stream)
        if size is None or size[1] < _FEWEST_ROWS:
            # The window became too small, or is gone: hand the row back and wait for better times.
            if self._rows:
                self._rows = 0
                self._write("\x1b7\x1b[r\x1b8")
            return
        columns, rows = size
        if rows != self._rows:
            prefix = self._reserve(rows)
        shown = text[: columns - 1]
        self._write(f"{prefix}\x1b7\x1b[{rows};1H\x1b[2K\x1b[2m{shown}\x1b[0m\x1b8")

    def _reserve(self, rows: int) -> str:
        """Control sequence that keeps scrolling off the last row, wherever the cursor is now."""
        if not self._rows:
            atexit.register(self.close)
        self._rows = rows
        # Index down and back up: if the cursor stands on the last row the screen scrolls by one, and the
        # column is kept, so that half a line of the program's output stays where it is.
        return f"\x1bD\x1b7\x1b[1;{rows - 1}r\x1b8\x1b[1A"

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Closed or broken: the program goes on, and so do we, silently.
            self._off = True
            self._rows = 0
            self._due = float("inf")


def status_text(steps: int, loss: float | None, overhead: float | None) -> str:
    """`netmend: 1,200 steps, loss 0.312, overhead 0.6 %`; what is not known yet is left out."""
    parts = [plural(steps, "step")]
    if loss is not None:
        parts.append(f"loss {measure(loss)}")
    if overhead is not None:
        parts.append(f"overhead {share(overhead)}")
    return "netmend: " + ", ".join(parts)


def _is_terminal(stream: IO[str] | None) -> bool:
    """Whether the stream is a terminal that understands scroll regions and has a row to spare."""
    if stream is None or os.name == "nt" or os.environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    try:
        if not stream.isatty():
            return False
    except (OSError, ValueError, AttributeError):
        return False
    size = _terminal_size(stream)
    return size is not None and size[1] >= _FEWEST_ROWS


def _terminal_size(stream: IO[str] | None) -> tuple[int, int] | None:
    """Columns and rows, asked anew each time: windows are resized."""
    if stream is None:
        return None
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return (size.columns, size.lines) if size.columns > 0 else None
