"""The standard output of a trial: kept from growing, remembered with the step at which each line came."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

_FIRST, _LAST = 2_000, 20_000  # lines that are remembered from the beginning and from the end
_LINE = 4_000  # characters of one line
_TAIL = 4_000  # characters that the outcome tells


class Output(io.TextIOBase):
    """Takes the place of sys.stdout and sys.stderr."""

    def __init__(self, step: Callable[[], int], seen: Callable[[int, str], None] | None = None) -> None:
        self._step, self._seen = step, seen
        self._first: list[tuple[int, str]] = []
        self._last: deque[tuple[int, str]] = deque(maxlen=_LAST)
        self._open = ""

    def write(self, text: str) -> int:
        if len(text) > 1_000_000:  # nobody reads that; its end may still be a line of interest
            text_kept = text[-_LINE:]
        else:
            text_kept = text
        if "\n" not in text_kept and "\r" not in text_kept:
            self._open = (self._open + text_kept)[-_LINE:]
            return len(text)
        *lines, self._open = (self._open + text_kept).replace("\r", "\n").split("\n")
        for line in lines:
            if line.strip():
                self._take(line[-_LINE:])
        return len(text)

    def _take(self, line: str) -> None:
        item = (self._step(), line)
        if len(self._first) < _FIRST:
            self._first.append(item)
        else:
            self._last.append(item)
        if self._seen is not None:
            self._seen(*item)

    def lines(self) -> Iterator[tuple[int, str]]:
        yield from self._first
        yield from self._last
        if self._open.strip():
            yield self._step(), self._open

    def tail(self) -> str:
        return "\n".join(line for _, line in [*self._first, *self._last][-60:])[-_TAIL:]

    def flush(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def fileno(self) -> int:
        return 1  # what the process writes past us goes to a file

    @property
    def buffer(self) -> Any:
        return _Bytes(self)


class _Bytes(io.RawIOBase):
    def __init__(self, text: Output) -> None:
        self._text = text

    def write(self, data: Any) -> int:
        self._text.write(bytes(data).decode("utf-8", errors="replace"))
        return len(data)

    def writable(self) -> bool:
        return True
