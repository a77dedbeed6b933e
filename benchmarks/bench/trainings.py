"""Many trainings of many programs: each one a trial, run once and kept, several at a time, each judged when it has ended."""

from __future__ import annotations

import filecmp
import functools
import hashlib
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import netmend
from netmend.trials.runner import Executor, Runner, memory_limit
from netmend.trials.trial import Limits, Outcome, Target, Trial

Answer = TypeVar("Answer")

_OVERHEAD = 0.01  # what `netmend run` may cost: the answer has to be the one that a user gets
_WATCHING = ("adapters", "observe", "store", "launch", "vocabulary")
LONGEST = 600.0  # seconds: the programs take a few


@dataclass(frozen=True)
class Training:
    """One training: which program, from which seed on, and where in its output the metric stands."""

    name: str  # of the program: "D1 buggy"
    entry: Path
    trials: Path  # where the outcomes of this program's trainings are kept
    seed: int = 0
    pattern: str = ""


class Trainings(Generic[Answer]):
    """Runs trainings and hands each outcome to `judge`; what was run before is only judged again."""

    def __init__(
        self,
        executor: Executor,
        judge: Callable[[Training, Outcome], Answer],
        told: Callable[[Training, Outcome, bool], None] | None = None,
    ) -> None:
        self.executor = executor
        self._judge = judge
        self._told = told
        self._telling = threading.Lock()
        self._stopping = False
        self._limits = Limits(seconds=LONGEST, megabytes=memory_limit(executor.jobs))
        self._runners: dict[Path, Runner] = {}

    def run(self, trainings: Sequence[Training]) -> list[Answer]:
        """The answers in the order of the trainings. An interruption ends all processes; what has ended is kept."""
        for training in trainings:
            if training.trials not in self._runners:
                target = Target(training.entry.name, (), False, str(training.entry.parent))
                self._runners[training.trials] = Runner(target, training.trials, self.executor, self._limits)
        futures: list[Future[Answer]] = []
        with ThreadPoolExecutor(self.executor.jobs) as pool:
            try:
                futures += [pool.submit(self._one, training) for training in trainings]
                wait(futures, return_when=FIRST_EXCEPTION)
                return [future.result() for future in futures]
            except BaseException:
                self._stopping = True
                for future in futures:
                    future.cancel()
                for runner in self._runners.values():
                    runner.close()
                raise

    def _one(self, training: Training) -> Answer:
        runner = self._runners[training.trials]
        trial = Trial(
            runner.target,
            seed=training.seed,
            limits=self._limits,
            pattern=training.pattern,
            overhead=_OVERHEAD,
        )
        known = runner.known(trial) is not None
        outcome = runner.run([trial])[0]
        answer = self._judge(training, outcome)
        if self._told is not None and not self._stopping:  # what an interruption ended has not ended
            with self._telling:
                self._told(training, outcome, known)
        return answer


def settled(write: Callable[[Path], Path], folder: Path) -> Path:
    """The entry of a program that `write` puts into a folder; files that are as they were stay untouched.

    Trials are kept by the size and date of data files: written anew on every call, they would all run again.
    """
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    entry = write(fresh).resolve().relative_to(fresh.resolve())
    if folder.is_dir() and _same(folder, fresh):
        shutil.rmtree(fresh)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return folder.resolve() / entry


@functools.cache
def recorder_state() -> str:
    """Changes with the parts of netmend that watch a training: what others recorded does not answer for these."""
    root = Path(netmend.__file__).parent
    digest = hashlib.sha256()
    for folder in _WATCHING:
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _same(old: Path, new: Path) -> bool:
    files = _files(new)
    return files == _files(old) and all(filecmp.cmp(old / file, new / file, shallow=False) for file in files)


def _files(folder: Path) -> set[Path]:
    return {file.relative_to(folder) for file in folder.rglob("*") if not file.is_dir()}
