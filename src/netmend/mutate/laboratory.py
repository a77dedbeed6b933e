"""Where originals and mutants are trained and examined: the same seeds for all, every training once."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netmend.errors import UsageError
from netmend.mutate.examined import Examined
from netmend.mutate.mutation import Mutation, texts_of
from netmend.mutate.test_sets import Subset, TestSet
from netmend.trials.opening import seeds_of as first_seeds
from netmend.trials.runner import Runner
from netmend.trials.trial import LOST, TIMED_OUT, Limits, Outcome, Trial

MODULE = "netmend.adapters.torch.subject.examination"
OVERHEAD = 0.01  # as `netmend run` watches by itself
WEIGHTS = {
    "places": 2,
    "shares": [0.05, 0.3],
}  # the same in all profiles, or originals would be trained again for each
_GRACE, _PATIENCE = 30.0, 8.0  # seconds, and times the original's: longer than that a mutant hangs


class Interrupted(Exception):
    """The user wants to stop."""


def seeds_of(count: int, repetition: int = 0) -> tuple[int, ...]:
    """Other ones for every repetition of a study."""
    if repetition:
        return tuple(range(1000 * repetition + 1, 1000 * repetition + 1 + count))
    return first_seeds(count)


@dataclass(frozen=True)
class Run:
    """One training and what its examination found."""

    outcome: Outcome
    examined: Examined | None

    @property
    def failure(self) -> str:
        """Why there is nothing to compare; "" where there is."""
        if self.outcome.status == TIMED_OUT:
            return "timed out"
        if not self.outcome.ran:
            return self.outcome.exception.strip() or self.outcome.status
        if self.examined is None:
            return next(
                (note for note in self.outcome.notes if "examination" in note), "it could not be examined"
            )
        return str(self.examined.meta.get("problem", ""))


class Laboratory:
    """All trainings of one study."""

    def __init__(
        self, runner: Runner, tests: tuple[TestSet, ...], subsets: tuple[Subset, ...], weights: bool
    ) -> None:
        self.runner, self.tests, self.subsets = runner, tests, subsets
        self.weights = weights
        self.stopping = threading.Event()
        self.baseline: Outcome | None = None

    def stop(self) -> None:
        self.stopping.set()
        self.runner.close()

    def original(self, seed: int, repeat: bool = False) -> Run:
        return self._run(self._original(seed, repeat))

    def originals(self, seeds: tuple[int, ...]) -> list[Run]:
        """Several at once."""
        trials = [self._original(seed, False) for seed in seeds]
        outcomes = self.runner.run(trials)
        return [self._examined(trial, outcome) for trial, outcome in zip(trials, outcomes, strict=True)]

    def mutant(self, mutation: Mutation, seed: int) -> Run:
        assert self.baseline is not None
        texts = texts_of(mutation.edits, self.baseline.root)
        if texts is None:
            raise UsageError(f"{mutation.operator}: the edit {mutation.title!r} cannot be made")
        given = self.runner.place(self._original(seed, False)).name
        trial = self._trial({"data": given}, seed)
        return self._run(replace(trial, texts=tuple(sorted(texts.items())), limits=self._limits()))

    def _original(self, seed: int, repeat: bool) -> Trial:
        more: dict[str, Any] = {"weights": WEIGHTS} if self.weights else {}
        return self._trial(more | ({"repeat": 1} if repeat else {}), seed)

    def _trial(self, more: dict[str, Any], seed: int) -> Trial:
        wishes = json.dumps({"tests": [test.as_data() for test in self.tests], **more}, sort_keys=True)
        examination = (MODULE, wishes)
        return Trial(
            self.runner.target, seed=seed, overhead=OVERHEAD, examination=examination, keeps_data=True
        )

    def _limits(self) -> Limits:
        limits = self.runner.limits
        if self.baseline is None or limits.seconds is not None:
            return limits
        return replace(limits, seconds=_GRACE + _PATIENCE * max(self.baseline.seconds, 1.0))

    def _run(self, trial: Trial) -> Run:
        if self.stopping.is_set():
            raise Interrupted
        (outcome,) = self.runner.run([trial])
        if outcome.status == LOST and self.stopping.is_set():
            raise Interrupted
        return self._examined(trial, outcome)

    def _examined(self, trial: Trial, outcome: Outcome) -> Run:
        return Run(outcome, Examined.read(self.runner.place(trial)) if outcome.ran else None)

    def folder(self, seed: int) -> Path:
        """Of an original: the data that it was examined on lies there."""
        return self.runner.place(self._original(seed, False))

    @property
    def sets(self) -> tuple[TestSet | Subset, ...]:
        """Whole ones first."""
        return (*self.tests, *self.subsets)

    # -- scores --------------------------------------------------------------------------------------------------

    def score(self, run: Run, test: str, mutant: str = "") -> float:
        """On a test set or a part of one; not a number where there was no answer."""
        if run.examined is None or run.failure:
            return float("nan")
        part = next((each for each in self.subsets if each.name == test), None)
        if part is None:
            return run.examined.score(test, mutant)
        return run.examined.score(part.of, mutant, self.index(part, run.examined))

    def index(self, part: Subset, examined: Examined) -> Any:
        return part.index(examined.labels(part.of), examined.inputs(part.of))
