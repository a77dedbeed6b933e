"""How far a benchmark is: a bar with the time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

_LINES = 20  # in a log, over the whole benchmark


class BenchProgress:
    """What has ended is told one by one; what was known before does not count for the time left."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._total, self._done, self._fresh = 0, 0, 0
        self._stage = ""
        self._started = time.monotonic()
        self._bar: Progress | None = None
        if self._console.is_terminal and not quiet:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=16),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=None, left="")

    def __enter__(self) -> BenchProgress:
        (self._bar or nullcontext()).__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, stage: str, total: int) -> None:
        """Another kind of work: counted and timed by itself."""
        self._stage, self._total, self._done, self._fresh = stage, total, 0, 0
        self._started = time.monotonic()
        if self._bar is not None:
            self._bar.reset(self._task, total=total, description=stage, left="")
        elif not self._quiet:
            self._say(f"{stage}, {total} to do")

    def ended(self, name: str, status: str = "", known: bool = False) -> None:
        """One piece of work has ended."""
        self._done += 1
        self._fresh += not known
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{self._stage} {name}", left=self._left())
        elif not self._quiet and (self._done == self._total or self._done % self._stride == 0):
            self._say(f"{self._done} of {self._total}, {name} {self._left()}".rstrip())
        if status and not self._quiet:
            self._say(f"{name}: {status}")

    @property
    def _stride(self) -> int:
        return max(1, self._total // _LINES)

    def _say(self, text: str) -> None:
        self._console.print(Text(f"netmend: {text}"), soft_wrap=True)

    def _left(self) -> str:
        if not self._fresh or self._done >= self._total:
            return ""
        seconds = (time.monotonic() - self._started) / self._fresh * (self._total - self._done)
        return f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
