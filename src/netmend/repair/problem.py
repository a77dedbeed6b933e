"""The program under repair: how its versions are tried, what a trial cost, what its trace shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from netmend.check.of_run import findings_of_run
from netmend.localise import diagnose
from netmend.program.text.sources import Sources
from netmend.repair.objective import Objective, choose
from netmend.repair.options import Budget, Measure
from netmend.repair.version import Version
from netmend.store import read_trace
from netmend.trials.runner import Runner
from netmend.trials.trial import FINISHED, Limits, Outcome, Rule, Trial
from netmend.trials.workspace import relocated
from netmend.vocabulary import Diagnosis, Trace

_EARLIEST = 0.4  # of the baseline's steps: before that, a slow start says nothing
_SLACK = 0.02  # of the baseline's error: a trial that is this little better is not given up yet
_PATIENCE = 8.0  # times the baseline's seconds, …
_CRASH = 0.1  # trainings that a trial counts as which ends before its first step
_GRACE = 30.0  # … and some: longer than that a trial hangs


@dataclass
class Problem:
    """A program and everything that was learned about it by trying."""

    runner: Runner
    budget: Budget = field(default_factory=Budget)
    measure: Measure = field(default_factory=Measure)
    baseline: Outcome | None = None
    objective: Objective | None = None
    spent: float = 0.0  # trainings
    seconds: float = 0.0
    # steps of the longest training so far: the unit of cost when the program as it is does not end
    _longest: int = 0

    @property
    def original(self) -> Version:
        return Version({}, self.runner.target.arguments)

    def start(self) -> Outcome:
        """Train the program as it is."""
        self.baseline = self.runner.run([self.trial(self.original, 0)])[0]
        self.objective = self._choose([self.baseline])
        self._pay(self.baseline)
        return self.baseline

    def trial(self, version: Version, seed: int, *, against: Outcome | None = None) -> Trial:
        target = replace(self.runner.target, arguments=version.current_arguments)
        texts = tuple(sorted(version.texts.items()))
        rule = None if against is None else self.rule(against)
        longer = math.prod(max(1.0, part.change.cost) for part in version.parts)
        limits = self._limits(longer)
        return Trial(target, texts, seed, rule, limits, self.measure.pattern, self.measure.file)

    def run(
        self, versions: Sequence[Version], seed: int = 0, *, against: Outcome | None = None
    ) -> list[Outcome]:
        """Try versions; those that fall behind an earlier outcome at the same step are given up."""
        return self.run_all([(version, against) for version in versions], seed)

    def run_all(self, versions: Sequence[tuple[Version, Outcome | None]], seed: int = 0) -> list[Outcome]:
        """Try versions, each against an outcome or to its end."""
        trials = [self.trial(version, seed, against=against) for version, against in versions]
        outcomes = self.runner.run(trials)
        for outcome in outcomes:
            self._pay(outcome)
        if self.objective is None:
            self.objective = self._choose(outcomes)
        return outcomes

    def value(self, outcome: Outcome | None) -> float | None:
        return None if outcome is None or self.objective is None else self.objective.value(outcome)

    def gain(self, before: Outcome | None, after: Outcome | None) -> float:
        """How much of the error went away between two outcomes."""
        if self.objective is None:
            worked = after is not None and after.ran
            return 1.0 if worked and not (before is not None and before.ran) else -1.0
        return self.objective.gain(self.value(before), self.value(after))

    @property
    def affordable(self) -> float:
        """Trainings that the budget still allows."""
        if self.budget.trainings is not None:
            return self.budget.trainings - self.spent
        one = self.baseline.seconds if self.baseline is not None else 0.0
        return (
            max(0.0, (self.budget.seconds or 0.0) - self.seconds) * self.runner.executor.jobs / max(one, 1e-3)
        )

    def rule(self, against: Outcome) -> Rule | None:
        """Give a trial up when, late enough, it is no better than the other was at the same step."""
        if self.objective is None or not against.ran:
            return None
        points = against.series.get(self.objective.series)
        if not points or self.objective.series.startswith(("training:", "file")):
            return None
        first = _EARLIEST * against.steps
        limits = []
        for step, value in points:
            if step >= first and math.isfinite(value):
                slack = _SLACK * abs(self.objective.error(value))
                limits.append(
                    (int(step), value + slack if self.objective.higher_is_better else value - slack)
                )
        return Rule(self.objective.series, self.objective.higher_is_better, tuple(limits)) if limits else None

    def trace(self, outcome: Outcome) -> Trace | None:
        """What was recorded of a trial, its sites in the copy that lies in the trial's folder."""
        if not outcome.run:
            return None
        return relocated(read_trace(Path(outcome.run)), outcome)

    def diagnosis(self, trace: Trace) -> Diagnosis:
        return diagnose(trace, findings=findings_of_run(trace.run))

    def sources(self, trace: Trace) -> Sources:
        return Sources.of(trace)

    def cost(self, outcome: Outcome) -> float:
        """In trainings of the program as it is, by its steps: the same on every machine."""
        base = self.baseline
        unit = base.steps if base is not None and base.ran else self._longest
        if not unit:
            return 1.0 if outcome.status == FINISHED else _CRASH
        return outcome.steps / unit if outcome.steps else _CRASH

    def _pay(self, outcome: Outcome) -> None:
        self._longest = max(self._longest, outcome.steps)
        self.spent += self.cost(outcome)
        self.seconds += outcome.seconds / max(1, self.runner.executor.jobs)

    def _limits(self, longer: float) -> Limits:
        """`longer`: how many times as long as the program as it is a version should train."""
        limits = self.runner.limits
        if self.baseline is None or limits.seconds is not None:
            return limits
        patience = max(_PATIENCE, 2 * longer)
        return replace(limits, seconds=_GRACE + patience * max(self.baseline.seconds, 1.0))

    def _choose(self, outcomes: Sequence[Outcome]) -> Objective | None:
        ran = [outcome for outcome in outcomes if outcome.ran]
        measure = self.measure
        return choose(ran, pattern=measure.pattern, file=measure.file, higher=measure.higher_is_better)
