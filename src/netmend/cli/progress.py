"""How far a command is that takes long: one line on a terminal that is drawn anew, a line per stage elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from netmend.report.numbers import count, duration, plural, rough_duration

if TYPE_CHECKING:
    from netmend.mend.session import Stage as MendStage
    from netmend.mutate.choice import Estimate
    from netmend.mutate.session import Stage as MutateStage
    from netmend.neutral.explore import Explorer
    from netmend.repair.problem import Problem
    from netmend.trials.runner import Used
    from netmend.trials.trial import Outcome

Own = TypeVar("Own", bound="Progress")
_PROOF = 10  # trainings that the proof of a repair takes
_SOON = 2.0  # seconds before a guess at the time left of a search for a patch is worth anything
_PATIENCE = 0.5  # seconds before indexing is told at all; a second query ends sooner


class Progress:
    """Each command says in which stage it is; what stands behind it on the line is its own matter."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._quiet = quiet
        self._live: Live | None = None
        self._stage = ""
        # of the command or, where the time left is told by stage, of the stage
        self._began = time.monotonic()

    def __enter__(self: Own) -> Own:
        if not self._quiet:
            self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _start(self) -> None:
        if self._console.is_terminal and self._live is None:
            self._live = Live("", console=self._console, transient=True, refresh_per_second=4)
            self._live.start()

    def _begin(self, stage: str, words: str = "") -> bool:
        """Whether a stage begins; in a log it is told."""
        if stage == self._stage:
            return False
        self._stage = stage
        if self._live is None:
            self._say(words or stage)
        return True

    def _say(self, words: str) -> None:
        if not self._quiet:
            self._console.print(f"netmend: {words}", highlight=False, markup=False, soft_wrap=True)

    def _update(self, parts: Iterable[str]) -> None:
        if self._live is not None:
            self._live.update(Text(" · ".join(parts), no_wrap=True, overflow="ellipsis"))

    def _more(self, done: float, of: float, patience: float, began: float | None = None) -> list[str]:
        """How long the rest of the stage takes, if it goes on as it began."""
        spent = time.monotonic() - (self._began if began is None else began)
        worth_saying = 0 < done < of and spent > patience
        return [f"about {duration(spent / done * (of - done))} more"] if worth_saying else []


class SearchProgress(Progress):
    """Of searches by training: what they have cost, what the best version reaches."""

    _best: float | None = None

    def _keep_best(self, problem: Problem, outcome: Outcome | None) -> None:
        objective = problem.objective
        value = None if outcome is None else problem.value(outcome)
        if objective is None or value is None:
            return
        if self._best is None or objective.gain(self._best, value) > 0:
            self._best = value

    def _best_words(self, problem: Problem) -> list[str]:
        if problem.objective is None or self._best is None:
            return []
        return [f"best {problem.objective.short} {self._best:.4g}"]

    def _left(self, problem: Problem, more: float = 0.0) -> float | None:
        """Seconds until the whole budget is spent and `more` is trained, from how long one training takes here."""
        base = problem.baseline
        if base is None or base.seconds <= 0:
            return None
        return (max(0.0, problem.affordable) + more) * base.seconds / max(1, problem.runner.executor.jobs)


class RepairProgress(SearchProgress):
    _done = 0

    def show(self, doing: str, problem: Problem, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a trial has ended."""
        if self._begin(doing):
            self._done = 0
        if outcome is not None:
            self._done += 1
            self._keep_best(problem, outcome)
        self._update(self.parts(problem))

    def parts(self, problem: Problem) -> list[str]:
        """`searching · at most 13 min left · 3.2 of 20 trainings · best val acc 0.91`."""
        parts = [self._stage]
        left = self._left(problem, _PROOF)
        if left is not None and self._stage == "proving" and problem.baseline is not None:
            left = max(0, _PROOF - self._done) * problem.baseline.seconds
            left /= max(1, problem.runner.executor.jobs)
        if left is not None:  # first: narrow terminals cut the end
            parts.append(f"at most {rough_duration(left)} left")
        if self._stage == "searching" and problem.budget.trainings is not None:
            parts.append(f"{problem.spent:.1f} of {problem.budget.trainings:g} trainings")
        elif self._stage == "proving":
            parts.append(f"{self._done} of {_PROOF} trainings")
        return parts + self._best_words(problem)


class NeutralProgress(SearchProgress):
    def show(self, doing: str, problem: Problem, explorer: Explorer, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a training has ended."""
        self._begin(doing)
        self._keep_best(problem, outcome)
        self._update(self.parts(problem, explorer))

    def parts(self, problem: Problem, explorer: Explorer) -> list[str]:
        """`searching · 12.5 of at most 60 trainings · 9 configurations, 4 kept · best val acc 0.91 · at most 40 s more`."""
        from netmend.neutral.neutrality import KEPT

        parts = [self._stage]
        if problem.budget.trainings is not None:
            parts.append(f"{problem.spent:.1f} of at most {problem.budget.trainings:g} trainings")
        known = list(explorer.graph.nodes[1:])
        if known:
            kept = sum(node.status == KEPT for node in known)
            parts.append(f"{len(known)} configurations, {kept} kept")
        parts += self._best_words(problem)
        left = self._left(problem)
        return parts if left is None else [*parts, f"at most {rough_duration(left)} more"]


class MutateProgress(Progress):
    """The estimate once, then faults judged and trainings made."""

    _is_estimated = False

    def show(self, stage: MutateStage) -> None:
        """A stage begins, or a training has ended."""
        if stage.estimate is not None and not self._is_estimated:
            self._is_estimated = True
            self._say(cost_words(stage.estimate))
        if self._begin(stage.doing):
            self._began = time.monotonic()
        self._update(self.parts(stage))

    def parts(self, stage: MutateStage) -> list[str]:
        """`training mutants · 12 of 40 faults · 61 trainings, 5 known · about 10 min more`."""
        parts = [stage.doing]
        if stage.of and stage.doing == "training mutants":
            parts.append(f"{stage.faults} of {plural(stage.of, 'fault')}")
        if stage.trainings:
            known = f", {stage.cached} known" if stage.cached else ""
            parts.append(f"{plural(stage.trainings, 'training')}{known}")
        return parts + self._more(stage.faults, stage.of, patience=5)


class AgentProgress(Progress):
    def show(self, doing: str, used: Used, outcome: Outcome | None) -> None:
        """A stage begins (no outcome), or a trial has ended."""
        self._begin(doing)
        self._update(self.parts(used))

    def parts(self, used: Used) -> list[str]:
        """`searching: 30 to 120 trainings, 4 min to 16 min · 12 trials (3 kept from before) · 2 min`."""
        kept = f" ({used.cached} kept from before)" if used.cached else ""
        passed = (time.monotonic() - self._began) / 60
        return [self._stage, f"{plural(used.trials, 'trial')}{kept}", f"{passed:.0f} min"]


class MendProgress(Progress):
    """The method, attempts, the time that is left; in a log a line per method."""

    def show(self, stage: MendStage) -> None:
        """An attempt begins, has taken steps, or was the last one."""
        if stage.method:
            self._begin(stage.method, " · ".join(self.parts(stage)))
        self._update(self.parts(stage))

    def parts(self, stage: MendStage) -> list[str]:
        """`mixing · attempt 5 of 9, 2 known · step 120 of 400 · about 12 s more`."""
        if not stage.method:
            return ["judging"]
        known = f", {stage.known} known" if stage.known else ""
        parts = [stage.method, f"attempt {stage.ended + 1} of {stage.of}{known}"]
        if stage.step:
            parts.append(f"step {stage.step} of {stage.steps}")
        made = stage.ended - stage.known + min(1.0, stage.step / stage.steps)
        return parts + self._more(made, stage.of - stage.known, _SOON)


class LocateProgress(Progress):
    """Indexing: told only where it takes long enough to be noticed."""

    _stage_began = 0.0
    _announced = ""

    def __enter__(self) -> LocateProgress:
        return self

    def say(self, doing: str, done: int, of: int) -> None:
        """A stage goes on."""
        now = time.monotonic()
        if doing != self._stage:
            self._stage, self._stage_began = doing, now
        if self._quiet or now - self._began < _PATIENCE:
            return
        self._start()
        if self._live is None and self._announced != doing:
            self._announced = doing
            self._say(f"{doing} {count(of)}" if of else doing)
        self._update(self.parts(doing, done, of))

    def parts(self, doing: str, done: int, of: int) -> list[str]:
        """`reading files · 1,200 of 5,000 · about 12 s more`."""
        parts = [doing]
        if of:
            parts.append(f"{count(done)} of {count(of)}")
        return parts + self._more(done, of, 1.0, self._stage_began)


def cost_words(cost: Estimate) -> str:
    return (
        f"{plural(cost.operators, 'operator')}; {cost.least} to {cost.most} trainings of {duration(cost.seconds)} each, "
        f"{cost.jobs} at once: {duration(cost.least_seconds)} to {duration(cost.most_seconds)}, less what is reused"
    )
