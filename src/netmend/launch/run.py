"""Run a program under observation, and end as it ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from netmend.launch.import_hook import AfterImport
from netmend.launch.script import Program, execute, prepare
from netmend.launch.tracebacks import without_own_frames
from netmend.observe.options import Options
from netmend.observe.sites import Sites

if TYPE_CHECKING:
    from netmend.observe.recorder import Progress
    from netmend.observe.session import Adapter


class Starter(Protocol):
    """Begins to watch a framework that the program has just imported; adapters/start.py."""

    def __call__(
        self,
        options: Options,
        script: str,
        arguments: tuple[str, ...] = (),
        progress: Progress | None = None,
        *,
        sites: Sites | None = None,
        preparation: Any = None,
    ) -> Any: ...


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    status: str = "finished"  # finished | failed | interrupted | stopped (by --stop-on)
    exit_code: int = 0
    exception: BaseException | None = None


@dataclass(frozen=True)
class Finished:
    """A program that has run to its end, for whoever examines what it leaves behind."""

    folder: Path  # of the run: results go here
    root: Path  # the program's files
    names: dict[str, Any]  # what the program's main module holds
    watching: Any  # the session that observed it; None where nothing could be watched


class Observed:
    """One program under observation; watching begins when it imports the framework."""

    def __init__(
        self,
        program: Program,
        options: Options,
        progress: Progress | None,
        starter: Starter,
        preparation: Callable[[Sites], Adapter] | None = None,
    ) -> None:
        self.program = program
        self.options = options
        self._starter = starter
        self._sites = Sites(program.user_roots)
        self._preparation = preparation(self._sites) if preparation is not None else None
        self.progress = progress
        self.watching: object | None = None
        self.problem: str | None = None  # why nothing could be watched

    def run(self) -> Ended:
        """Execute the program. Its exception, if any, is returned for the caller to raise again after the report."""
        hook = AfterImport("torch", self._start)
        prepare(self.program)
        if self._preparation is not None:
            self._preparation.install()  # data may be made before the framework is imported
        hook.install()
        try:
            execute(self.program)
        except SystemExit as leaving:
            return Ended("finished" if _exit_code(leaving) == 0 else "failed", _exit_code(leaving), leaving)
        except KeyboardInterrupt as problem:
            return Ended("interrupted", -signal.SIGINT, problem)
        except BaseException as problem:  # noqa: BLE001 - whatever it is, it is the user's and is raised again
            return Ended("failed", 1, problem)
        finally:
            hook.remove()
            if self._preparation is not None:
                self._preparation.remove()
        return Ended()

    def _start(self) -> None:
        try:
            self.watching = self._starter(
                self.options,
                self.program.target,
                self.program.arguments,
                self.progress,
                sites=self._sites,
                preparation=self._preparation,
            )
        except Exception as problem:  # noqa: BLE001 - the program must run even if watching it fails
            self.problem = f"{type(problem).__name__}: {problem}"


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    return leaving.code if isinstance(leaving.code, int) else 1


def user_frame(traceback: TracebackType | None) -> tuple[str, int] | None:
    """File and line where the user's program raised."""
    traceback = without_own_frames(traceback)
    place = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if "site-packages" not in file and not file.startswith((sys.base_prefix, "<")):
            place = (file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place
