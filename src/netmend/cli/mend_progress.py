"""How far a search for a patch is: the method, attempts, the time that is left."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.mend.session import Stage
from netmend.report.numbers import duration

_SOON = 2.0  # seconds before a guess at the time left is worth anything


class MendProgress:
    """One line on a terminal that is drawn anew; elsewhere a line per method."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._method = ""
        self._began = time.monotonic()

    def __enter__(self) -> MendProgress:
        if not self._quiet and self._console.is_terminal:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def told(self, stage: Stage) -> None:
        """An attempt begins, has taken steps, or was the last one."""
        if self._quiet:
            return
        if self._live is not None:
            self._live.update(Text(self.line(stage), no_wrap=True, overflow="ellipsis"))
        elif stage.method and stage.method != self._method:
            self._method = stage.method
            self._console.print(f"netmend: {self.line(stage)}", highlight=False, soft_wrap=True)

    def line(self, stage: Stage) -> str:
        """`mixing · attempt 5 of 9, 2 known · step 120 of 400 · about 12 s more`."""
        if not stage.method:
            return "judging"
        known = f", {stage.known} known" if stage.known else ""
        parts = [stage.method, f"attempt {stage.ended + 1} of {stage.of}{known}"]
        if stage.step:
            parts.append(f"step {stage.step} of {stage.steps}")
        spent = time.monotonic() - self._began
        made = stage.ended - stage.known + min(1.0, stage.step / stage.steps)
        if spent > _SOON and made > 0:
            left = stage.of - stage.ended - min(1.0, stage.step / stage.steps)
            parts.append(f"about {duration(spent / made * left)} more")
        return " · ".join(parts)
