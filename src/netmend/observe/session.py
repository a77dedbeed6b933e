"""Watching: one recording from start to stop, whatever framework the program uses."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any, Protocol

from netmend.observe.options import Options
from netmend.observe.recorder import Progress, Recorder, open_writer
from netmend.observe.sites import Sites
from netmend.store import new_run_id, runs_root
from netmend.store.places import spare
from netmend.version import VERSION
from netmend.vocabulary import RunFact


class Adapter(Protocol):
    """What a framework's adapter offers."""

    def install(self) -> None: ...
    def remove(self) -> None: ...
    def finish(self) -> None: ...


class Watching:
    """A recording in progress. `path` is the run's directory; `problem` says why nothing is stored, if so."""

    def __init__(
        self,
        options: Options,
        script: str,
        arguments: tuple[str, ...] = (),
        progress: Progress | None = None,
        sites: Sites | None = None,
    ) -> None:
        self.rank = rank = int(os.environ.get("RANK", "0"))
        try:
            working_directory = str(Path.cwd())
            root = options.directory / "runs" if options.directory is not None else runs_root()
        except FileNotFoundError:  # the working directory was deleted
            working_directory, root = "", options.directory or Path("/nonexistent")
        self.id = _shared_id() or new_run_id(time.time())
        run = RunFact(
            name=self.id,
            script=script,
            arguments=arguments,
            working_directory=working_directory,
            started=time.time(),
            overhead_budget=options.overhead,
            every=1 if options.full else options.every,
            netmend_version=VERSION,
        )
        self.path = root / self.id
        writer, problem = open_writer(self.path, run, rank)
        self.problem = None
        if writer is None:
            elsewhere = spare(root) / self.id
            writer, second = open_writer(elsewhere, run, rank)
            if writer is not None:
                self.problem = f"{root} is not writable ({problem}); run saved in {elsewhere}"
                self.path = elsewhere
            else:
                self.problem = f"nothing can be stored: {problem}; {second}"
        every = 1 if options.full else options.every
        self.recorder = Recorder(writer, run, every=every, progress=progress, sites=sites)
        if self.problem is not None:
            self.recorder.missing(f"warning: {self.problem}")
        self.options = options
        self._adapter: Adapter | None = None
        self._stopped = False

    def attach(self, adapter: Adapter) -> None:
        """Install the adapter's hooks; if that fails, none of them stays."""
        self._adapter = adapter
        try:
            adapter.install()
        except Exception as problem:  # noqa: BLE001 - the program runs on, unwatched
            self.recorder.missing(f"nothing could be watched: {type(problem).__name__}: {problem}")
            adapter.remove()
            self._adapter = None

    def pause(self) -> None:
        """Take all hooks away for a while."""
        if self._adapter is not None and not self._stopped:
            self.recorder.break_clock()
            self._adapter.remove()

    def resume(self) -> None:
        if self._adapter is not None and not self._stopped:
            self._adapter.install()
            self.recorder.forget_clock()

    def crashed(self, problem: BaseException) -> None:
        """The program has raised: whatever its frames still tell is recorded; call before `stop`."""
        tell = getattr(self._adapter, "crashed", None)
        if tell is not None and not self._stopped:
            tell(problem)

    def stop(self, status: str = "finished", **details: Any) -> RunFact:
        """Remove every hook, write the rest, close the trace; safe to call twice."""
        if self._stopped:
            return self.recorder.run
        self._stopped = True
        if self._adapter is not None:
            try:
                self._adapter.finish()
            except Exception as problem:  # noqa: BLE001 - ending a recording must not end the program
                self.recorder.switch_off("the end of the run", problem)
            finally:
                self._adapter.remove()
        return self.recorder.close(status, **details)


def _shared_id() -> str | None:
    """Under torchrun all local ranks write into one run: an identity that they can work out independently."""
    if "TORCHELASTIC_RUN_ID" not in os.environ or "MASTER_PORT" not in os.environ:
        return None
    parent = os.getppid()
    try:
        started = Path(f"/proc/{parent}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[19]
        born = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(started) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError, AttributeError):
        started, born = "", time.time() // 3600 * 3600
    keys = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
    text = "|".join([str(parent), started, *(os.environ.get(key, "") for key in keys)])
    stamp = time.strftime("%Y-%m-%d-%H%M%S", time.localtime(round(born)))
    return f"{stamp}-{hashlib.sha256(text.encode()).hexdigest()[:3]}"
