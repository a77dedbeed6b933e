"""What the interpreter does before and after a program, done for a program in a trial."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from pathlib import Path

from netmend.trials.relocate import moved


def use_copy(directory: str, root: str) -> None:
    """Where Python looks for modules in the program's folder (an editable install, PYTHONPATH), it finds the copy's."""

    def placed(entry: str) -> str:
        copied = moved(entry, directory, root)
        return copied if Path(copied).exists() else entry  # no copy of what holds installed packages

    sys.path[:] = [placed(entry) for entry in sys.path]
    if "PYTHONPATH" in os.environ:
        entries = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(placed(entry) for entry in entries)
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None) if name.startswith("__editable__") else None
        if isinstance(mapping, dict):
            mapping.update({package: placed(str(place)) for package, place in mapping.items()})


def wind_down() -> None:
    """As the interpreter does at its end: threads are waited for, and what was registered is called."""
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            if stream is not None:
                stream.flush()
