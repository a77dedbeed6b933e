"""The companion of a long run: a second process that reads the growing trace and tells of faults as they become certain.

A process of its own, so that judging takes nothing from the training process. It is started only when a run has lasted a while: shorter
ones are judged at their end anyway.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

_FIRST_LOOK = 5.0  # seconds after which a run counts as long: a certain fault need not wait for the end
HAS_STOPPED = 3  # exit code of a companion that has interrupted the program
_GRACE = 1.0  # seconds between its signal and its end, at most
_PATIENCE = 5.0  # seconds the companion gets to leave at the end


class Companion:
    """Starts the second process when it is time, and ends it with the run. Its failure changes nothing."""

    def __init__(self, observed: Any, quiet: bool, stop: bool) -> None:
        self._observed = observed
        self._off = (quiet and not stop) or os.environ.get("NETMEND_LIVE") == "0"
        self._stop = stop
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        self._owner = os.getpid()
        self._ended = False
        first = os.environ.get("NETMEND_LIVE_AFTER", "")
        self._first = float(first) if first.replace(".", "", 1).isdigit() else _FIRST_LOOK

    def start(self) -> None:
        if self._off:
            return
        self._timer = threading.Timer(self._first, self._launch)
        self._timer.daemon = True
        self._timer.start()

    def _launch(self) -> None:
        if os.getpid() != self._owner or self._ended:
            return
        watching = self._observed.watching
        if watching is None:  # the framework is not imported yet
            self.start()
            return
        command = [
            sys.executable,
            "-m",
            "netmend.cli.live",
            str(watching.path),
            str(watching.rank),
            str(self._owner),
        ]
        if self._stop:
            command.append("--stop")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment
            )
        except OSError:
            self._process = None

    def stop(self, interrupted: bool = False) -> bool:
        """End the companion; True when it was the one who stopped the program (--stop-on)."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return False
        asked = self._stop and self._has_stopped(process, interrupted)
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        return asked

    @staticmethod
    def _has_stopped(process: subprocess.Popen[bytes], interrupted: bool) -> bool:
        """It leaves with a code of its own right after its signal; a user's Ctrl-C ends it otherwise."""
        try:
            return process.wait(_GRACE if interrupted else 0.0) == HAS_STOPPED
        except subprocess.TimeoutExpired:
            return False
