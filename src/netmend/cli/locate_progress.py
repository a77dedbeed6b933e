"""How far indexing is: told only where it takes long enough to be noticed."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.report.numbers import count, duration

_PATIENCE = 0.5  # seconds before anything is told; a second query ends sooner


class LocateProgress:
    """One line on a terminal that is drawn anew; elsewhere a line for each stage that takes its time."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._began = time.monotonic()
        self._stage, self._stage_began = "", self._began
        self._told = ""

    def __enter__(self) -> LocateProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, doing: str, done: int, of: int) -> None:
        """A stage goes on."""
        now = time.monotonic()
        if doing != self._stage:
            self._stage, self._stage_began = doing, now
        if self._quiet or now - self._began < _PATIENCE:
            return
        if not self._console.is_terminal:
            if self._told != doing:
                self._told = doing
                amount = f" {count(of)}" if of else ""
                self._console.print(f"netmend: {doing}{amount}", highlight=False, markup=False)
            return
        if self._live is None:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=8)
            self._live.start()
        self._live.update(Text(self.line(doing, done, of, now), no_wrap=True, overflow="ellipsis"))

    def line(self, doing: str, done: int, of: int, now: float) -> str:
        """`reading files · 1,200 of 5,000 · about 12 s more`."""
        parts = [doing]
        if of:
            parts.append(f"{count(done)} of {count(of)}")
        spent = now - self._stage_began
        if of and 0 < done < of and spent > 1:
            parts.append(f"about {duration(spent / done * (of - done))} more")
        return " · ".join(parts)
