"""The companion of a long run: a second process that reads the growing trace and tells of faults as they become certain.

A process of its own, so that judging takes nothing from the training process. It is started only when a run has lasted a while: shorter
ones are judged at their end anyway. What it says comes through a pipe and is shown by the run itself: it holds none of the user's streams,
so that whoever waits for their end (`netmend run … 2>&1 | tee log`) waits for nothing but the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import IO, Any

from netmend.report.check.look import look_of, write_to

_FIRST_LOOK = 5.0  # seconds after which a run counts as long: a certain fault need not wait for the end
HAS_STOPPED = 3  # exit code of a companion that has interrupted the program
_GRACE = 1.0  # seconds between its signal and its end, at most
_LISTEN = 0.5  # seconds between two looks into the pipe
_PATIENCE = 5.0  # seconds the companion gets to leave at the end


class Companion:
    """Starts the second process when it is time, passes on what it says, and ends it with the run. Its failure changes nothing."""

    def __init__(self, stream: IO[str], quiet: bool, stop: bool) -> None:
        self._stream = stream
        self._stop = stop
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        first = os.environ.get("NETMEND_LIVE_AFTER", "")
        off = (quiet and not stop) or os.environ.get("NETMEND_LIVE") == "0"
        after = float(first) if first.replace(".", "", 1).isdigit() else _FIRST_LOOK
        self._due = float("inf") if off else time.monotonic() + after

    def update(self, watching: Any) -> None:
        """A step has been taken; cheap unless something is due."""
        now = time.monotonic()
        if now < self._due or watching is None or os.getpid() != self._owner:
            return
        self._due = now + _LISTEN
        if self._process is None:
            self._launch(watching)
        else:
            self._listen()

    def _launch(self, watching: Any) -> None:
        command = [sys.executable, "-m", "netmend.cli.live"]
        command += [str(watching.path), str(watching.rank), str(self._owner)]
        command += ["--stop"] if self._stop else []
        look = look_of(self._stream)  # it writes into a pipe, for the terminal behind this stream
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment["PYTHONIOENCODING"] = "utf-8"
        environment |= {"COLUMNS": str(look.width or ""), "FORCE_COLOR" if look.color else "NO_COLOR": "1"}
        nowhere = subprocess.DEVNULL
        try:
            # A session of its own: Ctrl-C in the terminal is for the run.
            self._process = subprocess.Popen(
                command,
                stdin=nowhere,
                stdout=subprocess.PIPE,
                stderr=nowhere,
                env=environment,
                start_new_session=True,
            )
            assert self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)
        except OSError:
            self._due = float("inf")

    def _listen(self) -> None:
        """Show what has been said since; a stream that fails is left alone."""
        assert self._process is not None and self._process.stdout is not None
        try:
            said = self._process.stdout.read()
            if said:
                write_to(self._stream, said.decode("utf-8", "replace"))
            elif said == b"":  # it has ended
                self._due = float("inf")
        except (OSError, ValueError):
            self._due = float("inf")

    def stop(self, interrupted: bool = False) -> bool:
        """End the companion; True when it was the one who stopped the program (--stop-on)."""
        self._due = float("inf")
        process = self._process
        if process is None or os.getpid() != self._owner:
            return False
        asked = self._stop and self._has_stopped(process, interrupted)
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        self._listen()
        self._process = None
        return asked

    @staticmethod
    def _has_stopped(process: subprocess.Popen[bytes], interrupted: bool) -> bool:
        """It leaves with a code of its own right after its signal; a user's Ctrl-C ends it otherwise."""
        try:
            return process.wait(_GRACE if interrupted else 0.0) == HAS_STOPPED
        except subprocess.TimeoutExpired:
            return False
