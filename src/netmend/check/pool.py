"""Many files at once, in processes of their own: one that hangs or dies costs a single file.

Plain processes with lines of JSON between: no forking of whatever threads the caller has, nothing unpickled, the same
on every system. A thread for each process hands out files; the caller's thread watches the time.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import netmend
from netmend.check.results import FileResult, from_plain
from netmend.check.select import Selection

_GRACE = 5.0  # seconds beyond a file's own limit before its process is ended
_LONGEST_ROUND = 16  # neighbours that go to one process: they follow the same files
_TICK = 0.1


class Pool:
    """Checks files in `jobs` processes; `tell` is called with each result as it comes, in the caller's thread."""

    def __init__(self, jobs: int, selection: Selection, seconds: float) -> None:
        self._jobs = jobs
        self._seconds = seconds
        self._settings = {"selection": selection.plain(), "seconds": seconds}
        self._waiting: deque[str] = deque()
        self._done: deque[tuple[str, FileResult]] = deque()
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []

    def run(self, files: Sequence[str], tell: Callable[[str, FileResult], None]) -> list[str]:
        """Returns the files that are left because no process could be started."""
        self._waiting.extend(files)
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._jobs)]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) or self._done:
                while self._done:
                    tell(*self._done.popleft())
                for worker in self._workers:
                    if worker.late(self._seconds + _GRACE):
                        worker.end()
                next((thread for thread in threads if thread.is_alive()), threads[0]).join(_TICK)
            return list(self._waiting)
        finally:
            self._waiting.clear()
            for worker in self._workers:
                worker.end()

    def _serve(self) -> None:
        """One thread: a process, and files for it until none is left."""
        worker: _Worker | None = None
        while files := self._next_round():
            while files:
                if worker is None:
                    worker = self._started()
                if worker is None:
                    self._waiting.extendleft(reversed(files))
                    return
                result = worker.check(files[0])
                if result is None:
                    result = FileResult(problem=self._loss(worker.ended), lasting=False)
                    worker = None
                self._done.append((files.pop(0), result))
        if worker is not None:
            worker.end()

    def _started(self) -> _Worker | None:
        try:
            worker = _Worker(self._settings)
        except OSError:
            return None
        self._workers.append(worker)
        return worker if worker.ready() else None

    def _next_round(self) -> list[str]:
        with self._lock:
            count = max(1, min(_LONGEST_ROUND, len(self._waiting) // (4 * self._jobs)))
            return [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]

    def _loss(self, late: bool) -> str:
        if late:
            return f"gave up after {self._seconds:g} seconds"
        return "could not be checked: the process died on it (nested too deeply, or no memory left)"


class _Worker:
    """One process. A file that it does not answer for is lost, and so is the process."""

    def __init__(self, settings: object) -> None:
        # The user's folder must not be where the process looks for modules: a file there may be called ast.py.
        here = {"", str(Path.cwd())}
        places = [place for place in sys.path if place not in here]
        places.append(str(Path(netmend.__file__).parent.parent))
        code = f"import sys; sys.path[:] = {places!r}; from netmend.check.worker import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._since = 0.0
        self.ended = False  # by us, because it took too long
        self._send(settings)

    def ready(self) -> bool:
        return self._answer() == b"ready\n"

    def check(self, file: str) -> FileResult | None:
        self._send(file)
        try:
            return from_plain(json.loads(self._answer()))
        except (ValueError, TypeError, IndexError):
            self._process.kill()
            return None

    def _send(self, data: object) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # a process that died is noticed by its missing answer
            self._process.stdin.write(json.dumps(data).encode("ascii") + b"\n")
            self._process.stdin.flush()

    def _answer(self) -> bytes:
        assert self._process.stdout is not None
        self._since = time.monotonic()
        try:
            return self._process.stdout.readline()
        except (OSError, ValueError):
            return b""
        finally:
            self._since = 0.0

    def late(self, limit: float) -> bool:
        since = self._since
        return since > 0 and time.monotonic() - since > limit

    def end(self) -> None:
        """Called while it works, it has taken too long."""
        self.ended = self.ended or self._since > 0
        self._process.kill()
        self._process.wait()
        if not self._since:
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError, AttributeError):
                    stream.close()  # type: ignore[union-attr]
