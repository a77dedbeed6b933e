"""Process: tells whether the process that records a run still lives, so that a killed run is not shown as running."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path


def identity() -> dict[str, str]:
    """What identifies this process: number, machine, and start (process numbers are used again)."""
    return {"pid": str(os.getpid()), "host": machine(), "process_start": started(os.getpid()) or ""}


def machine() -> str:
    """This machine, or the container on it: a process number means something only inside its namespace."""
    namespace = ""
    with contextlib.suppress(OSError):  # not Linux
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return f"{socket.gethostname()} {namespace}".strip()


def started(pid: int) -> str | None:
    """When the process started, in the system's own count and boot; None if unknown, "" if it is gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    # The command name in brackets may hold spaces and brackets itself; the fields after it are plain.
    rest = status.rpartition(")")[2].split()
    if len(rest) < 20:
        return None
    return "" if rest[0] in ("Z", "X") else f"{rest[19]} {boot}"


def is_gone(recorded: Mapping[str, str]) -> bool:
    """True when the recorded process certainly no longer runs; False when it does or nobody can tell from here."""
    if recorded.get("host") != machine() or sys.platform == "win32":  # there os.kill(pid, 0) would end it
        return False
    try:
        pid = int(recorded.get("pid", ""))
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (ValueError, OverflowError, OSError):
        return False  # PermissionError: it lives and belongs to someone else
    now = started(pid)
    return now is not None and bool(recorded.get("process_start")) and now != recorded["process_start"]
