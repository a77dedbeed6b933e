"""Runs a piece of a test in a fork, so that what it breaks or leaves behind stays there."""

from __future__ import annotations

import faulthandler
import os
import traceback
from collections.abc import Callable

PATIENCE_SECONDS = 30.0


def in_child(check: Callable[[], None]) -> None:
    """Call `check` in a child process; fail with its traceback if it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        faulthandler.dump_traceback_later(PATIENCE_SECONDS, exit=True, file=writing)
        try:
            check()
            code = 0
        except BaseException:  # noqa: BLE001 - the fork must not go on running the parent's tests
            os.write(writing, traceback.format_exc()[-4000:].encode())
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        message = stream.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise AssertionError(f"the child ended with {status}\n{message}")
