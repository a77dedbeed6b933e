"""What a trial told about itself: numbers that it printed, the user's own measure, what its recording shows."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from netmend.trials.printed import NUMBER, labelled
from netmend.vocabulary import Trace

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


# Measures of a recorded run as series: what evaluation passes and training steps showed.

_MOST_POINTS = 400
_TAIL = 0.1  # of the training steps: their mean is where training ended


def of_trace(trace: Trace) -> dict[str, list[list[float]]]:
    """Evaluation passes by the order in which they first came; training as one series."""
    series: dict[str, list[list[float]]] = {}
    passes = [table for table in trace.tables_of("evaluation") if len(table)]
    passes.sort(key=lambda table: (int(table.steps[0]), -float(np.nansum(table.column("samples")))))
    for index, table in enumerate(passes):
        steps, loss = table.known("loss")
        _add(series, f"evaluation:{index}:loss", steps, loss)
        constant = table.column("constant_loss")
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(constant > 0, table.column("loss") / constant, np.nan)
        _add(series, f"evaluation:{index}:relative", table.steps, relative)
        _add(series, f"evaluation:{index}:metric", *table.known("metric"))
        _add(series, f"evaluation:{index}:worst", *table.known("worst_recall"))
    steps, loss = trace.loss
    _add(series, "training:loss", steps, loss)
    progress = max(trace.tables_of("progress"), key=len, default=None)
    if progress is not None:
        constant = progress.column("constant_loss")
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(constant > 0, progress.column("loss") / constant, np.nan)
        _add(series, "training:relative", progress.steps, relative)
        _add(series, "training:metric", *progress.known("metric"))
    return series


def _add(series: dict[str, list[list[float]]], name: str, steps: np.ndarray, values: np.ndarray) -> None:
    there = ~np.isnan(values) if not name.endswith("loss") else np.ones(len(values), dtype=bool)
    points = [[int(step), float(value)] for step, value in zip(steps[there], values[there], strict=True)]
    if points:
        series[name] = thinned(points)


def thinned(points: list[list[float]]) -> list[list[float]]:
    """At most so many points that an outcome stays small; the last ones are kept as they are."""
    if len(points) <= _MOST_POINTS:
        return points
    kept = points[-_MOST_POINTS // 2 :]
    rest = points[: -_MOST_POINTS // 2]
    stride = math.ceil(len(rest) / (_MOST_POINTS // 2))
    return [*rest[::stride], *kept]


def end_of(name: str, points: list[list[float]]) -> float:
    """Where a series ended: its last value; for training steps, which are noisy, the mean of the last tenth."""
    if not name.startswith("training:"):
        return points[-1][1]
    last = points[-1][0]
    tail = [value for step, value in points if step >= last * (1 - _TAIL)]
    return sum(tail) / len(tail)
