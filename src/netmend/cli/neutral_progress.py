"""How far a neutrality analysis is: configurations known and kept, what it has cost, how long it may still take."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.neutral.explore import Explorer
from netmend.neutral.neutrality import KEPT
from netmend.repair.problem import Problem
from netmend.trials.trial import Outcome


class NeutralProgress:
    """One line on a terminal that is drawn anew; a line per stage elsewhere."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._stage = ""
        self._best: float | None = None

    def __enter__(self) -> NeutralProgress:
        if not self._quiet and self._console.is_terminal:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def told(self, doing: str, problem: Problem, explorer: Explorer, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a training has ended."""
        if self._quiet:
            return
        if doing != self._stage:
            self._stage = doing
            if self._live is None:
                self._console.print(f"netmend: {doing}", highlight=False)
        self._best = self._better(problem, None if outcome is None else problem.value(outcome))
        if self._live is not None:
            self._live.update(Text(self.line(problem, explorer), no_wrap=True, overflow="ellipsis"))

    def _better(self, problem: Problem, value: float | None) -> float | None:
        if value is None or problem.objective is None:
            return self._best
        return value if self._best is None or problem.objective.gain(self._best, value) > 0 else self._best

    def line(self, problem: Problem, explorer: Explorer) -> str:
        """`searching · 12.5 of at most 60 trainings · 9 configurations, 4 kept · best val acc 0.91 · at most 40 s more`."""
        parts = [self._stage]
        if problem.budget.trainings is not None:
            parts.append(f"{problem.spent:.1f} of at most {problem.budget.trainings:g} trainings")
        known = list(explorer.graph.nodes[1:])
        if known:
            kept = sum(node.status == KEPT for node in known)
            parts.append(f"{len(known)} configurations, {kept} kept")
        if problem.objective is not None and self._best is not None:
            parts.append(f"best {problem.objective.short} {self._best:.4g}")
        left = _left(problem)
        if left is not None:
            parts.append(f"at most {_duration(left)} more")
        return " · ".join(parts)


def _left(problem: Problem) -> float | None:
    """Seconds until the whole budget is spent, from how long one training takes here."""
    base = problem.baseline
    if base is None or base.seconds <= 0:
        return None
    return max(0.0, problem.affordable) * base.seconds / max(1, problem.runner.executor.jobs)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
