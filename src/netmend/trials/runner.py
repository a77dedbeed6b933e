"""The runner: trials in, outcomes out. What was run before is read, not run; what is lost is tried again."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from netmend.errors import UsageError
from netmend.trials import workspace
from netmend.trials.local import LocalExecutor, finished, memory_limit
from netmend.trials.trial import LOST, OUT_OF_MEMORY, TIMED_OUT, Limits, Outcome, Target, Trial, to_json

_ATTEMPTS = 3
_GUESSED = {TIMED_OUT, OUT_OF_MEMORY}  # depend on limits that may be other ones next time
_WAIT = 0.1  # seconds between looks at a trial that another process is running


Item = TypeVar("Item")
Result = TypeVar("Result")

__all__ = ["Executor", "Runner", "Used", "memory_limit"]


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
        results: Collection[Path] = (),
    ) -> None:
        self.target = target
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / workspace.MARK).touch()
        self.executor = executor or LocalExecutor(os.cpu_count() or 1)
        self.limits = limits or Limits(megabytes=memory_limit(self.executor.jobs))
        self.fingerprint = f"{workspace.fingerprint(Path(target.directory), results)} {versions()}"
        self.used = Used()
        self._told = told
        self._counting = threading.Lock()
        self._stopping = threading.Event()

    def run(self, trials: Sequence[Trial]) -> list[Outcome]:
        """The outcomes in the order of the trials; several run at once."""
        for pattern in {trial.pattern for trial in trials}:
            _check(pattern)
        return at_once(self._one, trials, self.executor.jobs, self.close)

    def place(self, trial: Trial) -> Path:
        return self.folder / self._limited(trial).key(self.fingerprint)

    def known(self, trial: Trial) -> Outcome | None:
        """The outcome of an earlier run of the same trial."""
        folder = self.place(trial)
        outcome = finished(folder)
        if outcome is None or outcome.status == LOST or (outcome.status in _GUESSED):
            return None
        # The project may have been moved since: what an outcome names lies in its own folder.
        run = folder / "runs" / Path(outcome.run).name if outcome.run else None
        if run is not None and not run.is_dir():
            return None
        return replace(outcome, run=str(run or ""), root=str(folder / "program"))

    def _limited(self, trial: Trial) -> Trial:
        return replace(trial, limits=self.limits) if trial.limits == Limits() else trial

    def _one(self, trial: Trial) -> Outcome:
        trial = self._limited(trial)
        with _alone(self.place(trial), self._stopping.is_set):
            known = self.known(trial)
            outcome = known or self._tried(trial)
        if not self._stopping.is_set():
            self._count(trial, outcome, known is not None)
        return outcome

    def _tried(self, trial: Trial) -> Outcome:
        folder = self.place(trial)
        protected = (self.target.directory,)
        outcome = Outcome(LOST)
        for attempt in range(1, _ATTEMPTS + 1):
            if self._stopping.is_set():
                return outcome
            outcome = self.executor.run(folder, trial, protected, self._stopping.is_set)
            outcome = replace(outcome, attempts=attempt)
            if outcome.status != LOST:
                break
        if not self._stopping.is_set():
            _write(folder / "outcome.json", to_json(outcome))
        return outcome

    def _count(self, trial: Trial, outcome: Outcome, cached: bool) -> None:
        with self._counting:
            self.used.cached += cached
            self.used.trials += 1
            self.used.steps += outcome.steps
            self.used.seconds += outcome.seconds
            if self._told is not None:
                self._told(trial, outcome)

    def close(self) -> None:
        self._stopping.set()
        self.executor.close()


def at_once(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, stop: Callable[[], None]
) -> list[Result]:
    """What comes of all items, in their order, several worked on at once; `stop` is called when one fails or Ctrl-C comes."""
    futures: list[Future[Result]] = []
    with ThreadPoolExecutor(jobs) as pool:
        try:
            futures += [pool.submit(work, item) for item in items]
            ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in (each for each in futures if each in ended):
                future.result()
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            stop()
            raise


@contextlib.contextmanager
def _alone(folder: Path, stopping: Callable[[], bool]) -> Iterator[None]:
    """Wait until nobody else is at a trial: another thread with the same one, or another netmend."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        with contextlib.suppress(ImportError):
            import fcntl

            while not stopping():
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(_WAIT)
                except OSError:  # a file system without locks
                    break
        yield


def _write(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def _check(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as problem:
        raise UsageError(f"the pattern {pattern!r} is not a regular expression: {problem}") from None


def versions() -> str:
    """What else decides what a program computes."""
    found = [f"python {sys.version_info.major}.{sys.version_info.minor}"]
    for name in ("torch", "numpy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(found)
