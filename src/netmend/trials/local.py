"""Trials in processes of this machine, each in a copy of the program, with limits on time, memory and output."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from netmend.trials import workspace
from netmend.trials.fork_server import Nursery, Running
from netmend.trials.output import end_of_file, read_tail
from netmend.trials.processes import exceeds
from netmend.trials.trial import LOST, OUT_OF_MEMORY, TIMED_OUT, Limits, Outcome, Trial, from_json

_POLL = 0.05  # seconds between looks at the clock
_LOOK = 0.2  # seconds between looks at memory and output
_MOST_OUTPUT = 64_000_000  # bytes that a program may write past Python
_TAIL = 4_000
_OUTCOME = ("outcome.json", "outcome.json.new", "outcome.new", "output.txt", "tail")
_FOLDERS = ("program", "runs")
_OWN = frozenset([*_OUTCOME, *_FOLDERS, "trial.json", "lock"])  # names in a trial's folder
_SHARE = 0.8  # of the machine's memory, for all trials together
_LEAST_MEGABYTES = 1000  # less is gone as soon as the framework is imported


def prepare(folder: Path, trial: Trial, protected: tuple[str, ...]) -> None:
    """The trial's folder: a copy of the program, and the file that describes the trial."""
    clear(folder)
    root = folder / "program"
    directory = Path(trial.target.directory)
    linked = workspace.make(directory, root, trial.texts)
    beside = workspace.link_neighbours(directory, folder, _OWN)
    describe(folder, trial, (*protected, *linked, *beside))


def describe(
    folder: Path, trial: Trial, protected: tuple[str, ...], environment: dict[str, str] | None = None
) -> None:
    data = {
        "trial": asdict(trial),
        "protected": protected,
        "root": str(folder / "program"),
        "environment": environment or {},
    }
    (folder / "trial.json").write_text(json.dumps(data), encoding="utf-8")


def clear(folder: Path) -> None:
    """Take away what an earlier attempt has left."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in _OUTCOME:
        (folder / old).unlink(missing_ok=True)
    for old in _FOLDERS:
        shutil.rmtree(folder / old, ignore_errors=True)


def finished(folder: Path) -> Outcome | None:
    """The outcome in a trial's folder, if the trial came to its end."""
    try:
        return from_json((folder / "outcome.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class LocalExecutor:
    """Runs trials one per call; calls may come from several threads."""

    def __init__(self, jobs: int, threads: int = 1) -> None:
        self.jobs = max(1, jobs)
        self._nursery = Nursery(threads)

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        """One trial, from its copy to its outcome."""
        prepare(folder, trial, protected)
        outcome = self.attend(folder, trial.limits, stopping)
        workspace.strip(folder / "program")
        return outcome

    def attend(self, folder: Path, limits: Limits, stopping: Callable[[], bool]) -> Outcome:
        """The trial that was made ready in a folder, until it ends or has to."""
        started = time.monotonic()
        running = self._nursery.start(folder / "trial.json")
        try:
            reason = _watch(running, folder, limits, stopping)
        finally:
            self._nursery.end(running)
        outcome, output = finished(folder), folder / "output.txt"
        if outcome is None:
            text = reason or f"the process ended without an outcome ({_exit(running.code)})"
            status = reason if reason in (TIMED_OUT, OUT_OF_MEMORY) else LOST
            outcome = Outcome(
                status,
                seconds=time.monotonic() - started,
                exception=text,
                output="\n".join(filter(None, (read_tail(folder / "tail"), end_of_file(output, _TAIL)))),
                root=str(folder / "program"),
            )
        _shorten(output, _TAIL)
        return outcome

    def close(self) -> None:
        self._nursery.close()


def _watch(running: Running, folder: Path, limits: Limits, stopping: Callable[[], bool]) -> str:
    """Wait for the end; say why it has to come now, if it has."""
    while not running.began.wait(_POLL):  # the first one waits until the framework is imported: not its fault
        if stopping():
            return "interrupted"
    started = looked = time.monotonic()
    while not running.ended.wait(_POLL):
        now = time.monotonic()
        if stopping():
            return "interrupted"
        if limits.seconds is not None and now - started > limits.seconds:
            return TIMED_OUT
        if now - looked > _LOOK:
            looked, most = now, limits.megabytes
            if most is not None and running.process is not None and exceeds(running.process, most):
                return OUT_OF_MEMORY
            _shorten(folder / "output.txt", _MOST_OUTPUT)
    return ""


def _shorten(file: Path, most: int) -> None:
    with contextlib.suppress(OSError):
        if file.stat().st_size > most:
            os.truncate(file, 0)  # not less: the program goes on writing at its end, wherever that is


def _exit(code: int | None) -> str:
    if code is None:
        return "and so did the one that starts them"
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def memory_limit(jobs: int) -> int | None:
    """Megabytes for one trial, so that all of them fit into the machine."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return max(_LEAST_MEGABYTES, int(total * _SHARE / max(1, jobs) / 1e6))
