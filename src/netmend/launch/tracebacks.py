"""Tracebacks as the user's own program would print them: frames of netmend are left out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

_OWN = str(Path(__file__).resolve().parents[1])
_STARTING = (str(Path(_OWN) / "launch"), str(Path(_OWN) / "cli"))


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The same chain of frames, less those that belong to netmend and those that started it."""
    kept: list[TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename.startswith(_OWN):
            if code.co_filename.startswith(
                _STARTING
            ):  # what comes before them started netmend, not the program
                kept.clear()
        else:
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for link in reversed(kept):
        result = TracebackType(result, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return result


def clean(problem: BaseException) -> BaseException:
    """Take netmend's frames out of an exception and of those it was raised from."""
    seen: set[int] = set()
    link: BaseException | None = problem
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = without_own_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
    return problem


def install_hook(afterwards: Callable[[], object] | None = None) -> None:
    """Let the interpreter print uncaught exceptions without our frames, through whatever hook the user has set.

    `afterwards` is called once the exception has been printed: what it says stands where the eye is.
    """
    if getattr(sys.excepthook, "netmend", False):
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], problem: BaseException, traceback: TracebackType | None) -> Any:
        clean(problem)
        try:
            return before(kind, problem, problem.__traceback__)
        finally:
            if afterwards is not None:
                afterwards()
                if issubclass(kind, KeyboardInterrupt):
                    _interrupted()

    hook.netmend = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def _interrupted() -> None:
    """Let the interpreter still end by the signal, as it does without us.

    It remembers an unhandled KeyboardInterrupt, and forgets it with the next text that is executed: any dataclass that is imported.
    """
    with contextlib.suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")
