"""Starts and ends trials through a zygote; the caller's side of it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_START = """\
import sys
if sys.path[0] == "":
    del sys.path[0]
sys.path.insert(0, sys.argv[1])
import netmend
del sys.path[0]
if sys.argv[1] not in sys.path:
    sys.path.append(sys.argv[1])
from netmend.trials.zygote import main
main()
"""  # the same netmend as the caller's, and nothing of the working directory


@dataclass
class Running:
    """One trial that was started."""

    number: int
    began: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    process: int | None = None
    code: int | None = None  # negative: the signal that ended it


class Nursery:
    """A zygote that is started when it is needed, and again when it is gone. Calls may come from several threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._zygote: subprocess.Popen[str] | None = None
        self._running: dict[int, Running] = {}
        self._count = 0

    def start(self, file: Path) -> Running:
        with self._lock:
            self._count += 1
            running = self._running[self._count] = Running(self._count)
            if self._zygote is None:
                self._zygote = self._open()
            self._ask({"start": str(file), "id": running.number})
        return running

    def end(self, running: Running) -> None:
        """Kill a trial and all that it started; returns when they are gone."""
        with self._lock:
            if not running.ended.is_set():
                self._ask({"end": running.number})
        running.ended.wait(30)

    def close(self) -> None:
        """End all trials and the zygote."""
        with self._lock:
            zygote, self._zygote = self._zygote, None
        if zygote is not None and zygote.stdin is not None:
            with contextlib.suppress(OSError):
                zygote.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                zygote.wait(10)
            zygote.kill()

    def _open(self) -> subprocess.Popen[str]:
        home = str(Path(__file__).resolve().parents[2])
        zygote = subprocess.Popen(
            [sys.executable, "-c", _START, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(self._threads),
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, args=(zygote,), daemon=True).start()
        return zygote

    def _ask(self, request: dict[str, str | int]) -> None:
        if self._zygote is not None and self._zygote.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # gone: `_listen` sees it, too
                self._zygote.stdin.write(json.dumps(request) + "\n")
                self._zygote.stdin.flush()

    def _listen(self, zygote: subprocess.Popen[str]) -> None:
        assert zygote.stdout is not None
        for line in zygote.stdout:
            answer = json.loads(line)
            running = self._running[answer["id"]]
            running.process = answer.get("process", running.process)
            running.began.set()
            if "code" in answer:
                running.code = answer["code"]
                running.ended.set()
                self._running.pop(running.number, None)
        with self._lock:  # the zygote is gone, and its trials with it
            if self._zygote is zygote:
                self._zygote = None
            for running in self._running.values():
                running.began.set()
                running.ended.set()
            self._running.clear()
        zygote.wait()


def environment(threads: int) -> dict[str, str]:
    """For the zygote: single-threaded libraries, the same order of sets in every trial, no compiled files left behind."""
    changed = {name: str(threads) for name in _THREADS}
    changed["PYTHONDONTWRITEBYTECODE"] = "1"
    changed["PYTHONHASHSEED"] = os.environ.get("PYTHONHASHSEED", "0")
    if os.environ.get("PYTHONPATH"):
        entries = os.environ["PYTHONPATH"].split(os.pathsep)
        changed["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry) for entry in entries)  # noqa: PTH100
    return {**os.environ, **changed}
