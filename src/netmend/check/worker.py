"""A process of its own that checks files for `pool.py`: a line of JSON with a path in, a line with the result out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys

from netmend.check.checker import Checker, rare_collections
from netmend.check.results import FileResult, to_plain
from netmend.check.select import Selection


def main() -> None:
    """Serves until its input ends."""
    with contextlib.suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives the orders
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may come between the answers
    settings = json.loads(sys.stdin.buffer.readline())
    checker = Checker(Selection.from_plain(settings["selection"]), settings["seconds"])
    answers.write(b"ready\n")
    answers.flush()
    with rare_collections() as collect:
        for line in sys.stdin.buffer:
            answers.write(json.dumps(to_plain(_checked(checker, json.loads(line)))).encode("ascii") + b"\n")
            answers.flush()
            collect()


def _checked(checker: Checker, path: str) -> FileResult:
    try:
        return checker.check(path)
    except Exception as problem:  # noqa: BLE001 - the other files go on
        return FileResult(
            problem=f"could not be checked ({type(problem).__name__}: {problem})", lasting=False
        )
