"""What the companion process does: look at the trace ever more rarely, and tell what has become certain."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from netmend.localise import diagnose
from netmend.store import read_trace
from netmend.vocabulary import Fault, Site

CERTAIN = 0.9  # confidence at which a fault is told while the program still runs
_PAUSE, _LONGEST_PAUSE = 3.0, 60.0  # seconds between looks: twice as long each time
_WAITS_FOR_THE_END = frozenset({"HYP-EPOCH-FEW", "HYP-EPOCH-MANY"})  # what only a finished run can show


class Announcer:
    """Tells each fault once, when two looks in a row are certain of it."""

    def __init__(self) -> None:
        self._suspected: set[tuple[str, Site | None]] = set()
        self._told: set[tuple[str, Site | None]] = set()

    def look(self, path: Path, rank: int) -> list[Fault]:
        """Faults that have become certain since the last look."""
        faults = [
            fault
            for fault in diagnose(read_trace(path, rank)).faults
            if fault.confidence >= CERTAIN and fault.cause not in _WAITS_FOR_THE_END
        ]
        keys = {(fault.cause, fault.site) for fault in faults}
        certain = [
            fault
            for fault in faults
            if (fault.cause, fault.site) in self._suspected and (fault.cause, fault.site) not in self._told
        ]
        self._suspected = keys
        self._told |= {(fault.cause, fault.site) for fault in certain}
        return certain


def announcement(fault: Fault) -> str:
    """One line for the log."""
    where = f" {fault.site.short}" if fault.site is not None else ""
    text = " ".join(f"{fault.title}{where} ({fault.cause}): {fault.summary} {fault.remedy}".split())
    return f"netmend: {text}\n"


def main(arguments: list[str]) -> None:
    path, rank, parent = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    stop = "--stop" in arguments
    announcer, pause = Announcer(), _PAUSE
    while os.getppid() == parent:
        try:
            found = announcer.look(path, rank)
        except Exception:  # noqa: BLE001 - a trace caught in the middle of a change: the next look will do
            found = []
        for fault in found:
            sys.stderr.write(announcement(fault))
            sys.stderr.flush()
        if found and stop:
            sys.stderr.write("netmend: training is interrupted, as --stop-on fault asks\n")
            sys.stderr.flush()
            os.kill(parent, signal.SIGINT)
            return
        time.sleep(pause)
        pause = min(_LONGEST_PAUSE, 1.5 * pause)


if __name__ == "__main__":
    main(sys.argv[1:])
