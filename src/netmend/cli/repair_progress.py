"""How far a repair is: what is done now, what it has cost, what the best version reaches, how long it may still take."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.repair.problem import Problem
from netmend.trials.trial import Outcome

_PROOF = 10  # trainings that the proof takes


class RepairProgress:
    """One line on a terminal that is drawn anew; a line per stage elsewhere."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._started = time.monotonic()
        self._stage = ""
        self._best: float | None = None
        self._done = 0

    def __enter__(self) -> RepairProgress:
        if not self._quiet and self._console.is_terminal:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def told(self, doing: str, problem: Problem, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a trial has ended."""
        if self._quiet:
            return
        if doing != self._stage:
            self._stage, self._done = doing, 0
            if self._live is None:
                self._console.print(f"netmend: {doing}", highlight=False)
        if outcome is not None:
            self._done += 1
            self._keep_best(problem, outcome)
        if self._live is not None:
            self._live.update(Text(self._line(problem), no_wrap=True, overflow="ellipsis"))

    def _keep_best(self, problem: Problem, outcome: Outcome) -> None:
        objective, value = problem.objective, problem.value(outcome)
        if objective is None or value is None:
            return
        if self._best is None or objective.gain(self._best, value) > 0:
            self._best = value

    def _line(self, problem: Problem) -> str:
        parts = [self._stage]
        left = self._left(problem)
        if left is not None:  # first: narrow terminals cut the end
            parts.append(f"at most {_duration(left)} left")
        if self._stage == "searching" and problem.budget.trainings is not None:
            parts.append(f"{problem.spent:.1f} of {problem.budget.trainings:g} trainings")
        elif self._stage == "proving":
            parts.append(f"{self._done} of {_PROOF} trainings")
        if problem.objective is not None and self._best is not None:
            parts.append(f"best {problem.objective.short} {self._best:.4g}")
        return " · ".join(parts)

    def _left(self, problem: Problem) -> float | None:
        """Seconds until the end if the whole budget is needed, from how long one training takes here."""
        base = problem.baseline
        if base is None or base.seconds <= 0:
            return None
        jobs = max(1, problem.runner.executor.jobs)
        if self._stage == "proving":
            return max(0, _PROOF - self._done) * base.seconds / jobs
        return (max(0.0, problem.affordable) + _PROOF) * base.seconds / jobs


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
