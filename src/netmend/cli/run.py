"""`netmend run`: the program first, then what is wrong with it and what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from netmend.adapters.start import start_torch
from netmend.cli.aftermath import Aftermath, Wishes
from netmend.cli.companion import Companion
from netmend.errors import UsageError
from netmend.launch.run import Ended, Observed
from netmend.launch.script import Program, load_module, load_script
from netmend.launch.tracebacks import install_hook, without_own_frames
from netmend.observe.options import Options, parse_interval, parse_share
from netmend.report.live import LiveStatus

STOPPED = 3  # exit code of a run that --stop-on has ended


def prepare_run(
    *,
    module: str | None,
    program: tuple[str, ...],
    overhead: str,
    every: str | None,
    full: bool,
    trap: bool,
    probe: bool,
    quiet: bool,
    html: Path | None,
    json: Path | None,
    exit_on_fault: bool,
    stop_on: str | None,
    directory: Path | None,
    kept: bool = True,
) -> Callable[[], None]:
    """Everything that can be refused is refused here, before the program starts."""
    options = Options(
        parse_share(overhead),
        parse_interval(every),
        full,
        trap,
        directory.resolve() if directory else None,
        probe,
    )
    page, data = _writable("--html", html), _writable("--json", json)
    if stop_on not in (None, "fault"):
        raise UsageError(f"--stop-on can only be fault, got {stop_on!r}")
    if module is None and not program:
        raise UsageError("name the script to run: netmend run train.py [ARGS]")
    quiet = quiet or int(os.environ.get("RANK", "0")) > 0  # one voice in a distributed run
    wishes = Wishes(quiet, page, data, exit_on_fault, stop_on == "fault", kept)
    return lambda: _run(_load(module, program), options, wishes)


def _writable(option: str, file: Path | None) -> Path | None:
    path = file.resolve() if file else None
    if path is not None and not path.parent.is_dir():
        raise UsageError(f"{option} {file}: the directory {path.parent} does not exist; create it first")
    if path is not None and path.is_dir():
        raise UsageError(f"{option} {file}: that is a directory; name a file")
    return path


def _load(module: str | None, program: tuple[str, ...]) -> Program:
    try:
        return load_module(module, program) if module is not None else load_script(program[0], program[1:])
    except UsageError as problem:
        sys.stderr.write(f"netmend: {problem}\n")
        sys.exit(2)
    except SyntaxError as problem:
        # As Python reports it: no frames of ours.
        problem.__traceback__ = None
        sys.excepthook(type(problem), problem, None)
        sys.exit(1)


def _run(program: Program, options: Options, wishes: Wishes) -> None:
    status = LiveStatus(sys.stderr, quiet=wishes.quiet)
    companion = Companion(sys.stderr, wishes.quiet, wishes.stop_on_fault)

    def progress(steps: int, loss: float | None, overhead: float | None) -> None:
        status.update(steps, loss, overhead)
        companion.update(observed.watching)

    observed = Observed(program, options, progress, start_torch)
    ended = Ended()
    try:
        ended = observed.run()
    finally:
        stopped = companion.stop(interrupted=ended.status == "interrupted")
        status.close()
    if stopped:
        ended = Ended("stopped", STOPPED)
    aftermath = Aftermath(observed, ended, wishes)
    aftermath.close()
    problem = ended.exception
    if problem is not None and not isinstance(problem, SystemExit):
        # Below the traceback: the interpreter prints it when the exception arrives at the top.
        install_hook(aftermath.tell)
        raise problem.with_traceback(without_own_frames(problem.__traceback__))
    aftermath.tell()
    if stopped:
        if not wishes.quiet:
            sys.stderr.write(f"netmend: stopped, as --stop-on fault asks; exit code {STOPPED}\n")
        sys.exit(STOPPED)
    if problem is not None:
        install_hook()
        raise problem.with_traceback(without_own_frames(problem.__traceback__))
    if aftermath.faulty and wishes.exit_on_fault:
        sys.exit(1)
