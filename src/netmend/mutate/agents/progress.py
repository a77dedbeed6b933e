"""How far a study is, on one line of the terminal; a line per stage elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.trials.runner import Used
from netmend.trials.trial import Outcome


class RlProgress:
    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._stage = ""
        self._started = time.monotonic()

    def __enter__(self) -> RlProgress:
        if not self._quiet and self._console.is_terminal:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def told(self, doing: str, used: Used, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a trial has ended."""
        if self._quiet:
            return
        if doing != self._stage:
            self._stage = doing
            if self._live is None:
                self._console.print(f"netmend: {doing}", highlight=False)
        if self._live is not None:
            self._live.update(Text(self.line(used), no_wrap=True, overflow="ellipsis"))

    def line(self, used: Used) -> str:
        """`searching: 30 to 120 trainings, 4 min to 16 min · 12 trials (3 kept from before) · 2 min`."""
        kept = f" ({used.cached} kept from before)" if used.cached else ""
        passed = (time.monotonic() - self._started) / 60
        return f"{self._stage} · {used.trials} trial{'s' * (used.trials != 1)}{kept} · {passed:.0f} min"
