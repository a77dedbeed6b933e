"""What a trial told about itself: numbers that it printed, the user's own measure."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from netmend.trials.printed import NUMBER, labelled
from netmend.trials.series import thinned

Series = dict[str, list[list[float]]]

_MOST_LABELS = 200


def printed(lines: Iterable[tuple[int, str]], past: str, step: int, pattern: str) -> Series:
    """Series of printed numbers. What came past Python (from other processes of the program) has no steps but the last one."""
    own, late = list(lines), [(step, line) for line in past.splitlines()]
    series = labelled(own)
    for label, points in labelled(late).items():
        series.setdefault(label, points)
    found = {f"printed:{label}": thinned(points) for label, points in list(series.items())[:_MOST_LABELS]}
    if pattern:
        for some in (own, late):
            points = [[at, number(text)] for at, line in some for text in re.findall(pattern, line)]
            if points and "pattern" not in found:
                found["pattern"] = thinned(points)
    return found


class MeasureFile:
    """The file that the program writes its measure to. One that lay there before says nothing about this trial."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = self._state()

    def _state(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            state = self.path.stat()
            return state.st_mtime_ns, state.st_size
        return None

    def value(self) -> float | None:
        """The last number in it."""
        now = self._state()
        if now is None or now == self._before:
            return None
        found = NUMBER.findall(self.path.read_text(encoding="utf-8", errors="replace"))
        return number(found[-1]) if found else None


def number(text: Any) -> float:
    """Of a match of the user's pattern: its first group, if it has some."""
    first = text[0] if isinstance(text, tuple) else text
    try:
        return float(first)
    except ValueError:
        return math.nan
