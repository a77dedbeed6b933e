"""What a trial prints: kept from growing, remembered with its steps, its end kept where it survives the trial."""

from __future__ import annotations

import codecs
import contextlib
import io
import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# The end of what a trial printed, kept where it survives the trial: a killed process cannot tell it any more.

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


# The standard output of a trial: kept from growing, remembered with the step at which each line came.

_FIRST, _LAST = 2_000, 20_000  # lines that are remembered from the beginning and from the end
_LINE = 4_000  # characters of one line
_TAIL = 4_000  # characters that the outcome tells
_MOST = 1_000_000  # characters of one piece: nobody reads more; its end may still be a line of interest


class Output(io.TextIOBase):
    """Takes the place of sys.stdout and sys.stderr."""

    name, mode, line_buffering, write_through = "<stdout>", "w", True, True

    def __init__(
        self,
        step: Callable[[], int],
        seen: Callable[[int, str], None] | None = None,
        kept: Callable[[str], None] | None = None,
    ) -> None:
        self._step, self._seen, self._kept = step, seen, kept
        self._first: list[tuple[int, str]] = []
        self._last: deque[tuple[int, str]] = deque(maxlen=_LAST)
        self._open = ""
        self._process = os.getpid()

    def write(self, text: str) -> int:
        if os.getpid() != self._process:  # in a fork: what we remember here, nobody will ever ask for
            _past(text)
            return len(text)
        kept = text[-_LINE:] if len(text) > _MOST else text
        if "\n" not in kept and "\r" not in kept:
            self._open = (self._open + kept)[-_LINE:]
            return len(text)
        *lines, last = (self._open + kept).replace("\r", "\n").split("\n")
        self._open = last[-_LINE:]
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
        if self._kept is not None:
            self._kept(line)
        if self._seen is not None:
            self._seen(*item)

    def lines(self) -> Iterator[tuple[int, str]]:
        yield from self._first
        yield from list(self._last)
        if self._open.strip():
            yield self._step(), self._open

    def tail(self) -> str:
        return "\n".join(line for _, line in list(self.lines())[-60:])[-_TAIL:]

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass  # both streams are this one: whoever closes one still has the other

    def reconfigure(self, **_: Any) -> None:
        """As of a real standard output; nothing to change here."""

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "replace"

    def fileno(self) -> int:
        return 1  # what the process writes past us goes to a file

    @property
    def buffer(self) -> Any:
        return _Bytes(self)


class _Bytes(io.RawIOBase):
    """What `sys.stdout.buffer` is; some programs wrap it anew."""

    def __init__(self, text: Output) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def write(self, data: Any) -> int:
        content = bytes(data)
        self._text.write(self._decoder.decode(content))
        return len(content)

    def writable(self) -> bool:
        return True


def _past(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(1, text.encode("utf-8", errors="replace"))
