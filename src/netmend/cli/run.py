"""`netmend run`: the program first, then what is wrong with it and what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netmend.cli.companion import Companion
from netmend.errors import UsageError
from netmend.launch.run import Ended, Observed, user_frame
from netmend.launch.script import Program, load_module, load_script
from netmend.launch.tracebacks import install_hook, without_own_frames
from netmend.observe.options import Options, parse_interval, parse_share
from netmend.report.live import LiveStatus


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


@dataclass(frozen=True)
class Wishes:
    """What to do with the outcome."""

    quiet: bool = False
    page: Path | None = None
    data: Path | None = None
    exit_on_fault: bool = False
    stop_on_fault: bool = False
    kept: bool = True  # whether the run will be there afterwards

    @property
    def nothing(self) -> bool:
        return self.quiet and self.page is None and self.data is None and not self.exit_on_fault


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
    observed = Observed(program, options, status.update)
    companion = Companion(observed, wishes.quiet, wishes.stop_on_fault)
    companion.start()
    try:
        ended = observed.run()
    finally:
        companion.stop()
        status.close()
    faulty = _finish(observed, ended, wishes)
    if ended.exception is not None:
        install_hook()
        raise ended.exception.with_traceback(without_own_frames(ended.exception.__traceback__))
    if faulty and wishes.exit_on_fault:
        sys.exit(1)


def _finish(observed: Observed, ended: Ended, wishes: Wishes) -> bool:
    """Close the trace and tell what was seen; nothing in here may change how the program ends. True: faults were found."""
    watching: Any = observed.watching
    try:
        if watching is None:
            reason = observed.problem or f"{observed.program.target} never imported torch"
            if not wishes.quiet:
                sys.stderr.write(f"netmend: nothing was recorded: {reason}\n")
            return False
        details: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            details |= _exception(ended.exception)
        watching.stop(ended.status, **details)
        return _report(watching, wishes)
    except KeyboardInterrupt:
        raise
    except Exception as problem:  # noqa: BLE001 - the program has run; its end must not be changed by our report
        if not wishes.quiet:
            sys.stderr.write(
                f"netmend: the report failed ({type(problem).__name__}: {problem}); the program was not affected\n"
            )
        return False


def _exception(problem: BaseException) -> dict[str, Any]:
    from netmend.vocabulary import Site

    place = user_frame(problem.__traceback__)
    return {
        "exception": f"{type(problem).__name__}: {problem}",
        "exception_site": Site(place[0], place[1]) if place is not None else None,
    }


def _report(watching: Any, wishes: Wishes) -> bool:
    if wishes.nothing:
        return False
    from netmend import report
    from netmend.api import judge
    from netmend.store import read_trace

    if watching.problem is not None and not watching.path.exists():
        sys.stderr.write(f"netmend: {watching.problem}\n")
        return False
    trace = read_trace(watching.path, watching.rank)
    diagnosis = judge(watching.path, trace)
    if wishes.page is not None:
        wishes.page.write_text(report.html(trace, diagnosis=diagnosis), encoding="utf-8")
    if wishes.data is not None:
        wishes.data.write_text(report.as_json(trace, diagnosis), encoding="utf-8")
    if not wishes.quiet:
        sys.stdout.flush()
        console = report.console(sys.stderr)
        console.print(report.diagnosis_text(trace, diagnosis))
        console.print()
        from netmend.cli.next_step import next_command

        path = watching.path if wishes.kept else None
        words = report.summary(trace, path, wishes.page, next_command(trace, diagnosis) if path else "")
        console.print(words, crop=False)
    return bool(diagnosis.faults)
