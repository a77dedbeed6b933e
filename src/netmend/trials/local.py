"""Trials in processes of this machine, each forked from one that has imported the framework: that takes longer than many trainings."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netmend.trials import workspace
from netmend.trials.trial import LOST, OUT_OF_MEMORY, TIMED_OUT, Outcome, Trial, from_json

_POLL = 0.02
_LOOK = 0.2  # seconds between looks at memory and output
_MOST_OUTPUT = 64_000_000  # bytes that a program may write past Python


def prepare(folder: Path, trial: Trial, protected: tuple[str, ...]) -> Path:
    """The trial's folder: a copy of the program, and the file that describes the trial."""
    root = folder / "program"
    workspace.make(Path(trial.target.directory), root, trial.texts)
    for old in ("outcome.json", "outcome.json.new"):
        (folder / old).unlink(missing_ok=True)
    file = folder / "trial.json"
    data = {"trial": asdict(trial), "protected": protected, "root": str(root)}
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def finished(folder: Path) -> Outcome | None:
    """The outcome in a trial's folder, if the trial came to its end."""
    file = folder / "outcome.json"
    try:
        return from_json(file.read_text(encoding="utf-8"))
    except OSError:
        return None


class LocalExecutor:
    """Runs trials one per call; calls may come from several threads."""

    def __init__(self, jobs: int, threads: int = 1) -> None:
        self.jobs = max(1, jobs)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
        for name in names:
            os.environ[name] = str(threads)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ.setdefault("PYTHONHASHSEED", "0")
        self._context: Any = multiprocessing.get_context("forkserver")
        wanted = (
            "torch",
            "torch.utils.data",
            "netmend.trials.child",
            "netmend.adapters.torch.session",
            "netmend.localise",
            "netmend.localise.causes",
            "netmend.diagnose.detectors",
        )
        self._context.set_forkserver_preload([name for name in wanted if _there(name)])
        self.running: set[int] = set()

    def run(
        self, folder: Path, trial: Trial, protected: tuple[str, ...], stopping: Callable[[], bool]
    ) -> Outcome:
        """One trial, from its copy to its outcome."""
        folder.mkdir(parents=True, exist_ok=True)
        file = prepare(folder, trial, protected)
        process = self._context.Process(target=_enter, args=(str(file),), daemon=False)
        started = time.monotonic()
        process.start()
        self.running.add(process.pid)
        try:
            reason = self._attend(process, folder, trial, started, stopping)
        finally:
            self.running.discard(process.pid)
            _kill(process.pid)
            process.join(5)
        outcome = finished(folder)
        if outcome is None:
            seconds = time.monotonic() - started
            text = reason or f"the process ended without an outcome ({_exit(process.exitcode)})"
            status = reason if reason in (TIMED_OUT, OUT_OF_MEMORY) else LOST
            outcome = Outcome(
                status, seconds=seconds, exception=text, output=_tail(folder), root=str(folder / "program")
            )
        workspace.strip(folder / "program")
        return outcome

    def _attend(
        self, process: Any, folder: Path, trial: Trial, started: float, stopping: Callable[[], bool]
    ) -> str:
        """Wait for the end; say why it was brought about, if it was."""
        looked = started
        while process.is_alive():
            process.join(_POLL)
            now = time.monotonic()
            if stopping():
                return "interrupted"
            if trial.limits.seconds is not None and now - started > trial.limits.seconds:
                return TIMED_OUT
            if now - looked > _LOOK:
                looked = now
                if trial.limits.megabytes is not None and memory(process.pid) > trial.limits.megabytes:
                    return OUT_OF_MEMORY
                _shorten(folder / "output.txt")
        return ""

    def close(self) -> None:
        for process in list(self.running):
            _kill(process)


def _there(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None


def _enter(file: str) -> None:
    """In the new process: a session of its own, so that whatever it starts can be ended with it."""
    from netmend.trials.child import main

    os.setsid()
    output = os.open(Path(file).parent / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    main(file)


def memory(session: int) -> float:
    """Megabytes that the processes of a session hold, where the system tells (Linux)."""
    total = 0.0
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                total += int(fields[21]) * _PAGE
    return total / 1e6


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _kill(session: int | None) -> None:
    """End a process and everything that it started."""
    if session is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    for entry in Path("/proc").glob("[0-9]*"):  # what has left the group is still of the session
        with contextlib.suppress(OSError, IndexError, ValueError, ProcessLookupError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(entry.name), signal.SIGKILL)


def _shorten(file: Path) -> None:
    with contextlib.suppress(OSError):
        if file.stat().st_size > _MOST_OUTPUT:
            os.truncate(file, 0)


def _tail(folder: Path) -> str:
    with contextlib.suppress(OSError):
        return (folder / "output.txt").read_bytes()[-4000:].decode("utf-8", errors="replace")
    return ""


def _exit(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"
