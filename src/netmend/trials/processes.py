"""Processes of a trial: what it starts is counted with it and does not outlive it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_FRESH = 0.1  # seconds for which one look at all processes serves everybody who asks
_PATIENCE = 5.0  # seconds until what was killed is gone
_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36  # of Linux's prctl


@dataclass(frozen=True)
class Seen:
    parent: int
    pages: int
    ended: bool


class _Look:
    """The last look at all processes."""

    lock = threading.Lock()
    time = 0.0
    processes: dict[int, Seen] = {}  # noqa: RUF012 - exchanged as a whole


def processes(fresh: bool = False) -> dict[int, Seen]:
    """All processes by number, where the system tells (Linux)."""
    with _Look.lock:
        now = time.monotonic()
        if fresh or now - _Look.time > _FRESH:
            _Look.processes, _Look.time = _scan(), now
        return _Look.processes


def _scan() -> dict[int, Seen]:
    found: dict[int, Seen] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - several times a second: no objects for each name
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
                    found[int(name)] = Seen(int(fields[1]), int(fields[21]), fields[0] in "ZX")
    return found


def descendants(process: int, fresh: bool = False) -> list[int]:
    """The living processes that a process has started, and those that these have."""
    children: dict[int, list[int]] = {}
    for number, seen in processes(fresh).items():
        if not seen.ended:
            children.setdefault(seen.parent, []).append(number)
    found, waiting = [], [process]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += below
    return found


def memory(process: int) -> float:
    """Megabytes that a process and its descendants hold; pages that they share count for each of them."""
    known = processes()
    return sum(known[number].pages * _PAGE for number in _family(process) if number in known) / 1e6


def own_memory(process: int) -> float:
    """The same, exactly, which takes longer: shared pages are divided among those that share them."""
    total = 0
    for number in _family(process):
        with contextlib.suppress(OSError, ValueError, IndexError):
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def exceeds(process: int, megabytes: float) -> bool:
    """Whether a process and its descendants hold more than that, by the cheap count and then by the exact one."""
    return memory(process) > megabytes and own_memory(process) > megabytes


def _family(process: int) -> list[int]:
    return [process, *descendants(process)]


def end_children(spared: set[int]) -> None:
    """Kill all descendants of this process but some children and what belongs to these."""
    last = time.monotonic() + _PATIENCE
    while time.monotonic() < last:
        everything = descendants(os.getpid(), fresh=True)
        own = {number for child in spared for number in _family(child)}
        doomed = [number for number in everything if number not in own]
        if not doomed:
            return
        for number in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.005)


def adopt_orphans() -> None:
    """What descendants leave behind becomes a child of this process, even what has left group and session."""
    _prctl(_ADOPT_ORPHANS, 1)


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends; at once if it already has."""
    _prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
