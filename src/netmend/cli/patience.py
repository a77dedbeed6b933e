"""Ctrl-C while netmend judges: the first says what is going on, the next leaves. Neither ever shows a traceback of ours."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any


class Patience:
    """A context in which Ctrl-C means netmend, not the program. `asked`: the user has pressed it already; `skipped`: and once more."""

    def __init__(self, *, asked: bool, quiet: bool) -> None:
        self.skipped = False
        self._asked = asked
        self._quiet = quiet
        self._told = False
        self._before: Any = None

    def __enter__(self) -> Patience:
        own = threading.current_thread() is threading.main_thread()
        self._before = signal.getsignal(signal.SIGINT) if own else None
        if self._before not in (None, signal.SIG_IGN):  # nobody's, or one who wants to hear nothing
            signal.signal(signal.SIGINT, self._pressed)
        else:
            self._before = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self.skipped = self.skipped or (kind is not None and issubclass(kind, KeyboardInterrupt))
        return kind is not None and issubclass(kind, KeyboardInterrupt)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._tell()

    def begin(self) -> None:
        """Something that takes a while begins: whoever has just pressed Ctrl-C should know what is going on."""
        if self._asked and self._before is not None:
            self._tell()

    def _tell(self) -> None:
        if self._told or self._quiet:
            return
        self._told = True
        sys.stderr.write("netmend: judging; Ctrl-C again to skip\n")
        sys.stderr.flush()
