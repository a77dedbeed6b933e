"""`netmend check --watch`: looks at the times of the files again and again, and checks when one has changed."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable

from netmend.check.session import Session
from netmend.errors import UsageError

EVERY = 0.5  # seconds between two looks; thousands of files take a few hundredths of one
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
Seen = dict[str, tuple[int, int]]


def watch(session: Session, check: Callable[[], int]) -> int:
    """Until Ctrl-C; the exit code is then 0, whatever was found."""
    seen: Seen | None = None
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            now = look(session)
            if now != seen:
                seen = now
                _show(check)
            time.sleep(EVERY)
    return 0


def _show(check: Callable[[], int]) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
    try:
        check()
    except UsageError as problem:  # no file is there at the moment; one may come
        sys.stderr.write(f"netmend: {problem}\n")
    sys.stdout.flush()
    sys.stderr.write(f"Checked at {time.strftime('%H:%M:%S')}. Watching for changes; Ctrl-C ends it.\n")
    sys.stderr.flush()


def look(session: Session) -> Seen:
    """Size and time of change of every file, and of the files beside them that findings rest on."""
    found: Seen = {}
    try:
        files = session.files()
    except UsageError:  # a path that was given is gone
        return found
    for file in (*files, *session.followed()):
        with contextlib.suppress(OSError):
            status = os.stat(file)  # noqa: PTH116 - thousands of them: speed
            found[file] = (status.st_size, status.st_mtime_ns)
    return found
