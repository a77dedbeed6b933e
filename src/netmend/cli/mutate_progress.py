"""How far a mutation test is: the cost that was estimated, faults judged, trainings made."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.mutate.estimate import Estimate
from netmend.mutate.session import Stage
from netmend.report.numbers import duration, plural


class MutateProgress:
    """The estimate once, then one line on a terminal that is drawn anew; a line per stage elsewhere."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._stage = ""
        self._told = False
        self._began = 0.0

    def __enter__(self) -> MutateProgress:
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
        """A stage begins, or a training has ended."""
        if self._quiet:
            return
        if stage.estimate is not None and not self._told:
            self._told = True
            self._console.print(f"netmend: {cost_words(stage.estimate)}", highlight=False)
        if stage.doing != self._stage:
            self._stage, self._began = stage.doing, time.monotonic()
            if self._live is None:
                self._console.print(f"netmend: {stage.doing}", highlight=False)
        if self._live is not None:
            self._live.update(Text(self.line(stage), no_wrap=True, overflow="ellipsis"))

    def line(self, stage: Stage) -> str:
        """`training mutants · 12 of 40 faults · 61 trainings, 5 known · about 10 min more`."""
        parts = [stage.doing]
        if stage.of and stage.doing == "training mutants":
            parts.append(f"{stage.faults} of {plural(stage.of, 'fault')}")
        if stage.trainings:
            known = f", {stage.cached} known" if stage.cached else ""
            parts.append(f"{plural(stage.trainings, 'training')}{known}")
        spent = time.monotonic() - self._began
        if stage.faults and stage.of > stage.faults and spent > 5:
            parts.append(f"about {duration(spent / stage.faults * (stage.of - stage.faults))} more")
        return " · ".join(parts)


def cost_words(cost: Estimate) -> str:
    return (
        f"{plural(cost.operators, 'operator')}; {cost.least} to {cost.most} trainings of {duration(cost.seconds)} each, "
        f"{cost.jobs} at once: {duration(cost.least_seconds)} to {duration(cost.most_seconds)}, less what is reused"
    )
