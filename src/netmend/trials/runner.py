"""The runner: trials in, outcomes out. What was run before is read, not run; what is lost is tried again."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from netmend.trials import workspace
from netmend.trials.local import LocalExecutor, finished
from netmend.trials.trial import LOST, OUT_OF_MEMORY, TIMED_OUT, Limits, Outcome, Target, Trial, to_json

_ATTEMPTS = 3
_GUESSED = {TIMED_OUT, OUT_OF_MEMORY}  # depend on limits that may be other ones next time
_SHARE = 0.8  # of the machine's memory, for all trials together


class Executor(Protocol):
    """Where trials run."""

    jobs: int

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome: ...
    def close(self) -> None: ...


@dataclass
class Used:
    """What a search has cost so far."""

    trials: int = 0
    steps: int = 0
    seconds: float = 0.0
    cached: int = 0


class Runner:
    """All trials of one program. Outcomes lie in `folder`, one folder each, named by content."""

    def __init__(
        self,
        target: Target,
        folder: Path,
        executor: Executor | None = None,
        limits: Limits | None = None,
        told: Callable[[Trial, Outcome], None] | None = None,
    ) -> None:
        self.target = target
        self.folder = folder.resolve()
        self.executor = executor or LocalExecutor(os.cpu_count() or 1)
        self.limits = limits or Limits(megabytes=memory_limit(self.executor.jobs))
        self.fingerprint = workspace.fingerprint(Path(target.directory))
        self.used = Used()
        self._told = told
        self._stopping = threading.Event()

    def run(self, trials: Sequence[Trial]) -> list[Outcome]:
        """The outcomes in the order of the trials; several run at once."""
        if not trials:
            return []
        with ThreadPoolExecutor(self.executor.jobs) as pool:
            futures = [pool.submit(self._one, trial) for trial in trials]
            try:
                return [future.result() for future in futures]
            except BaseException:
                self._stopping.set()
                self.executor.close()
                raise

    def place(self, trial: Trial) -> Path:
        return self.folder / trial.key(self.fingerprint)

    def known(self, trial: Trial) -> Outcome | None:
        """The outcome of an earlier run of the same trial."""
        outcome = finished(self.place(trial))
        if outcome is None or outcome.status == LOST or (outcome.status in _GUESSED):
            return None
        return outcome

    def _one(self, trial: Trial) -> Outcome:
        known = self.known(trial)
        if known is not None:
            self.used.cached += 1
            self._count(trial, known)
            return known
        if trial.limits == Limits():
            trial = replace(trial, limits=self.limits)
        folder = self.place(trial)
        protected = (self.target.directory,)
        outcome = Outcome(LOST)
        for attempt in range(1, _ATTEMPTS + 1):
            outcome = replace(
                self.executor.run(folder, trial, protected, self._stopping.is_set), attempts=attempt
            )
            if outcome.status != LOST or self._stopping.is_set():
                break
        if not self._stopping.is_set():
            _write(folder / "outcome.json", to_json(outcome))
            self._count(trial, outcome)
        return outcome

    def _count(self, trial: Trial, outcome: Outcome) -> None:
        self.used.trials += 1
        self.used.steps += outcome.steps
        self.used.seconds += outcome.seconds
        if self._told is not None:
            self._told(trial, outcome)

    def close(self) -> None:
        self._stopping.set()
        self.executor.close()


def _write(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def memory_limit(jobs: int) -> int | None:
    """Megabytes for one trial, so that all of them fit into the machine."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return int(total * _SHARE / max(1, jobs) / 1e6)
