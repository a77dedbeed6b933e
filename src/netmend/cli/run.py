"""`netmend run`: the program first, then what is wrong with it and what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace

from netmend.adapters.start import start_torch, watch_preparation
from netmend.cli.aftermath import Aftermath
from netmend.cli.companion import Companion
from netmend.cli.options import refuse_bad_file
from netmend.cli.run_options import RunOptions
from netmend.errors import UsageError
from netmend.launch.run import Ended, Observed
from netmend.launch.script import Program, load_module, load_script
from netmend.launch.tracebacks import install_hook, without_own_frames
from netmend.observe.options import Options, parse_interval, parse_share
from netmend.report.run.live import LiveStatus

STOPPED = 3  # exit code of a run that --stop-on has ended


def prepare_run(module: str | None, program: tuple[str, ...], options: RunOptions) -> Callable[[], None]:
    """Everything that can be refused is refused here, before the program starts; it may change its folder."""
    folder, page, data = (file and file.resolve() for file in (options.directory, options.html, options.json))
    watching = Options(
        parse_share(options.overhead),
        parse_interval(options.every),
        options.full,
        options.trap,
        folder,
        options.probe,
    )
    refuse_bad_file("--html", options.html)
    refuse_bad_file("--json", options.json)
    if options.stop_on not in (None, "fault"):
        raise UsageError(f"--stop-on can only be fault, got {options.stop_on!r}")
    if module is None and not program:
        raise UsageError("name the script to run: netmend run train.py [ARGS]")
    quiet = options.quiet or int(os.environ.get("RANK", "0")) > 0  # one voice in a distributed run
    options = replace(options, quiet=quiet, html=page, json=data)
    return lambda: _run(_load(module, program), watching, options)


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


def _run(program: Program, watching: Options, options: RunOptions) -> None:
    status = LiveStatus(sys.stderr, quiet=options.quiet)
    companion = Companion(sys.stderr, options.quiet, options.stop_on is not None)

    def progress(steps: int, loss: float | None, overhead: float | None) -> None:
        status.update(steps, loss, overhead)
        companion.update(observed.watching)

    observed = Observed(program, watching, progress, start_torch, watch_preparation)
    ended = Ended()
    try:
        ended = observed.run()
    finally:
        stopped = companion.stop(interrupted=ended.status == "interrupted")
        status.close()
    if stopped:
        ended = Ended("stopped", STOPPED)
    aftermath = Aftermath(observed, ended, options)
    aftermath.close()
    problem = ended.exception
    if problem is not None and not isinstance(problem, SystemExit):
        # Below the traceback: the interpreter prints it when the exception arrives at the top.
        install_hook(aftermath.tell)
        raise problem.with_traceback(without_own_frames(problem.__traceback__))
    aftermath.tell()
    if stopped:
        if not options.quiet:
            sys.stderr.write(f"netmend: stopped, as --stop-on fault asks; exit code {STOPPED}\n")
        sys.exit(STOPPED)
    if problem is not None:
        install_hook()
        raise problem.with_traceback(without_own_frames(problem.__traceback__))
    if aftermath.faulty and options.exit_on_fault:
        sys.exit(1)
