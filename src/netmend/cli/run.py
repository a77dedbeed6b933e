"""`netmend run`: the program first, then what was seen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    quiet: bool,
    html: Path | None,
    directory: Path | None,
) -> Callable[[], None]:
    """Everything that can be refused is refused here, before the program starts."""
    options = Options(
        parse_share(overhead), parse_interval(every), full, trap, directory.resolve() if directory else None
    )
    page = html.resolve() if html else None
    if page is not None and not page.parent.is_dir():
        raise UsageError(f"--html {html}: the directory {page.parent} does not exist; create it first")
    if module is None and not program:
        raise UsageError("name the script to run: netmend run train.py [ARGS]")
    quiet = quiet or int(os.environ.get("RANK", "0")) > 0  # one voice in a distributed run
    return lambda: _run(_load(module, program), options, quiet, page)


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


def _run(program: Program, options: Options, quiet: bool, page: Path | None) -> None:
    status = LiveStatus(sys.stderr, quiet=quiet)
    observed = Observed(program, options, status.update)
    try:
        ended = observed.run()
    finally:
        status.close()
    _finish(observed, ended, quiet, page)
    if ended.exception is not None:
        install_hook()
        raise ended.exception.with_traceback(without_own_frames(ended.exception.__traceback__))


def _finish(observed: Observed, ended: Ended, quiet: bool, page: Path | None) -> None:
    """Close the trace and tell what was seen; nothing in here may change how the program ends."""
    watching: Any = observed.watching
    try:
        if watching is None:
            reason = observed.problem or f"{observed.program.target} never imported torch"
            if not quiet:
                sys.stderr.write(f"netmend: nothing was recorded: {reason}\n")
            return
        details: dict[str, Any] = {"exit_code": ended.exit_code}
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            details |= _exception(ended.exception)
        watching.stop(ended.status, **details)
        _report(watching, quiet, page)
    except KeyboardInterrupt:
        raise
    except Exception as problem:  # noqa: BLE001 - the program has run; its end must not be changed by our report
        if not quiet:
            sys.stderr.write(
                f"netmend: the report failed ({type(problem).__name__}: {problem}); the program was not affected\n"
            )


def _exception(problem: BaseException) -> dict[str, Any]:
    from netmend.vocabulary import Site

    place = user_frame(problem.__traceback__)
    return {
        "exception": f"{type(problem).__name__}: {problem}",
        "exception_site": Site(place[0], place[1]) if place is not None else None,
    }


def _report(watching: Any, quiet: bool, page: Path | None) -> None:
    if quiet and page is None:
        return
    from netmend import report
    from netmend.store import read_trace

    if watching.problem is not None and not watching.path.exists():
        sys.stderr.write(f"netmend: {watching.problem}\n")
        return
    trace = read_trace(watching.path, watching.rank)
    if page is not None:
        page.write_text(report.html(trace), encoding="utf-8")
    if not quiet:
        sys.stdout.flush()
        console = report.console(sys.stderr)
        console.print(report.summary(trace, watching.path))
        if page is not None:
            console.print(f"page   {page}", soft_wrap=True, highlight=False)
