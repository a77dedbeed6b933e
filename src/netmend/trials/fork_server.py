"""Starts and ends trials through a zygote, the process that they are forked from."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from netmend.trials.processes import adopt_orphans, die_with_parent, end_children

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
from netmend.trials.fork_server import main
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


# The process that trials are forked from: it has imported the framework, which takes longer than many trainings.
#
# Not multiprocessing's fork server: that one runs the main module of whoever calls in every process again, and a program would see
# that it is not the main process. Requests come as JSON lines on stdin, {"start": file, "id": number} or {"end": number}; answers
# go to stdout, {"id": number, "process": number} when a trial has begun and {"id": number, "code": number} when it and all that it
# started is gone. When stdin ends, so do the trials.

_PRELOADED = (
    "torch",
    "torch.utils.data",
    "torch._dynamo",  # the first optimiser imports it
    "netmend.trials.child",
    "netmend.adapters.torch.watch.session",
)


def main() -> None:
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who will end us
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what an import prints is no answer
    preload()
    Zygote(answers).serve()


def preload() -> None:
    """Import what every trial needs, as far as it is installed."""
    for name in _PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    from netmend.diagnose.detector import DETECTORS
    from netmend.localise.cause import CAUSES

    for family in (DETECTORS, CAUSES):
        family.classes()


class Zygote:
    def __init__(self, answers: IO[str]) -> None:
        self.answers = answers
        self.running: dict[int, int] = {}  # process → number of the request
        self.open = [answers.fileno()]  # descriptors that are none of a trial's business

    def serve(self) -> None:
        waking, woken = os.pipe()
        for end in (waking, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        selector = selectors.PollSelector()
        self.open += [waking, woken]
        selector.register(0, selectors.EVENT_READ)
        selector.register(waking, selectors.EVENT_READ)
        text = b""
        while True:
            ready = [key.fd for key, _ in selector.select()]
            if waking in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(waking, 4096)
                self._reap()
            if 0 in ready:
                more = os.read(0, 65536)
                if not more:
                    end_children(set())
                    os._exit(0)  # taking the framework apart would only take time
                *lines, text = (text + more).split(b"\n")
                for line in lines:
                    self._obey(json.loads(line))

    def _obey(self, request: dict[str, str | int]) -> None:
        if "start" in request:
            self._fork(str(request["start"]), int(request["id"]))
        else:
            for process, number in self.running.items():
                if number == request["end"]:  # not reaped yet, so the number is still its own
                    os.kill(process, signal.SIGKILL)

    def _fork(self, file: str, number: int) -> None:
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for descriptor in self.open:
                    os.close(descriptor)
                become(file, parent)
            finally:
                os._exit(70)
        self.running[process] = number
        self._answer(id=number, process=process)

    def _reap(self) -> None:
        """Of the trials that have ended: what they left behind has become our child and goes, too."""
        ended: list[tuple[int, int]] = []
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if process == 0:
                break
            if process in self.running:
                ended.append((self.running.pop(process), os.waitstatus_to_exitcode(status)))
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, signal.SIGKILL)  # where orphans are not adopted
        if ended:
            end_children(set(self.running))
        for number, code in ended:
            self._answer(id=number, code=code)

    def _answer(self, **message: int) -> None:
        with contextlib.suppress(OSError):
            self.answers.write(json.dumps(message) + "\n")


def become(file: str, parent: int) -> None:
    """In a new process: a session of its own, the output to a file, then the trial."""
    os.setsid()
    die_with_parent(parent)
    adopt_orphans()
    output = os.open(Path(file).parent / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    empty = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((empty, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    for source in (empty, output):
        os.close(source)
    faulthandler.enable(2)  # a crash tells where
    from netmend.trials.child import main

    main(file)


if __name__ == "__main__":
    main()
