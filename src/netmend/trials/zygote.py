"""The process that trials are forked from: it has imported the framework, which takes longer than many trainings.

Not multiprocessing's fork server: that one runs the main module of whoever calls in every process again, and a program would see
that it is not the main process. Requests come as JSON lines on stdin, {"start": file, "id": number} or {"end": number}; answers
go to stdout, {"id": number, "process": number} when a trial has begun and {"id": number, "code": number} when it and all that it
started is gone. When stdin ends, so do the trials.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import selectors
import signal
from pathlib import Path
from typing import IO

from netmend.trials.processes import adopt_orphans, die_with_parent, end_children

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
