"""What the companion process does: look at the trace ever more rarely, and tell what has become certain."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from netmend.cli.companion import HAS_STOPPED
from netmend.localise import diagnose
from netmend.report.check.look import Look, look_of
from netmend.report.numbers import alike, sure
from netmend.report.signs import harmless, wrapped
from netmend.store import read_trace
from netmend.vocabulary import Fault, Site

CERTAIN = 0.9  # confidence at which a fault is told while the program still runs, when the next look agrees
SURE = 0.98  # confidence at which one look is enough: what further steps cannot change
LOG_WIDTH = 100
_PAUSE, _LONGEST_PAUSE = 3.0, 60.0  # seconds between looks: twice as long each time
_MOST_CPU, _MOST_TO_STOP = 0.05, 0.5  # share of one processor that looking may take, over the whole time
_ALONE = 0.5  # seconds between two looks at whether the run is still there
_MOST_LINES = 2  # of what was seen; the end of the run tells all
_WAITS_FOR_THE_END = frozenset({"HYP-EPOCH-FEW", "HYP-EPOCH-MANY"})  # what only a finished run can show


class Announcer:
    """Tells each fault once: at the first look that is sure of it, or when two looks in a row are nearly so."""

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
            if (fault.confidence >= SURE or (fault.cause, fault.site) in self._suspected)
            and (fault.cause, fault.site) not in self._told
        ]
        self._suspected = keys
        self._told |= {(fault.cause, fault.site) for fault in certain}
        return certain


def announcement(fault: Fault, look: Look) -> str:
    """What and where in one line, what was seen below it, fitted to the terminal."""
    width = look.width or LOG_WIDTH
    title = f"{fault.title[:1].upper()}{fault.title[1:]}"
    where = f" at {harmless(fault.site.short)}" if fault.site is not None else ""
    first, *more = wrapped(f"{title}{where} ({fault.cause}, {sure(fault.confidence)})", width - 9, width - 9)
    lines = [look.paint("netmend", "label") + "  " + look.paint(first, "mark")]
    lines += [f"         {look.paint(line, 'mark')}" for line in more]
    seen = list(wrapped(alike(harmless(" ".join(fault.summary.split()))), width - 9, width - 9))
    lines += [f"         {line}" for line in seen[:_MOST_LINES]]
    if len(seen) > _MOST_LINES:
        lines[-1] = f"{lines[-1][: width - 2]} …"
    return "".join(f"{line}\n" for line in lines)


def main(arguments: list[str]) -> None:
    path, rank, parent = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends us
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    stop = "--stop" in arguments
    if hasattr(os, "nice") and not stop:
        os.nice(10)
    most = _MOST_TO_STOP if stop else _MOST_CPU
    announcer, pause, started = Announcer(), _PAUSE, time.monotonic()
    while os.getppid() == parent:
        try:
            found = announcer.look(path, rank)
        except Exception:  # noqa: BLE001 - a trace caught in the middle of a change: the next look will do
            found = []
        for fault in found:
            sys.stdout.write(announcement(fault, look_of(sys.stdout)))
        if found and stop:
            sys.stdout.write("netmend: training is interrupted, as --stop-on fault asks\n")
        sys.stdout.flush()
        if found and stop:
            os.kill(parent, signal.SIGINT)
            sys.exit(HAS_STOPPED)
        time.sleep(max(pause, time.process_time() / most - (time.monotonic() - started)))
        pause = min(_LONGEST_PAUSE, 2 * pause)


def _leave_with(parent: int) -> None:
    """A run that was killed could end nobody: looked for apart from the judging, which may take seconds."""
    while os.getppid() == parent:
        time.sleep(_ALONE)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
