"""`netmend check`: options in, findings out, an exit code.

0: nothing found. 1: findings, or a file that could not be checked. 2: wrong use, or nothing could be checked at all.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from netmend.check.outcome import Outcome
from netmend.check.progress import Progress
from netmend.check.session import CheckOptions, Session
from netmend.cli.check_options import Request, read_request
from netmend.config import CheckSettings, read_check_settings
from netmend.errors import UsageError

if TYPE_CHECKING:
    from netmend.vocabulary.finding import Finding

STDIN = "-"
CLEAN, FOUND, NOT_CHECKED = 0, 1, 2


def check_arguments(arguments: Sequence[str]) -> int:
    """The command as it was typed, without `check` itself."""
    return check_files(read_request(arguments))


def check_files(request: Request) -> int:
    """Carries the command out; returns the exit code."""
    _refuse_contradictions(request)
    settings = read_check_settings(Path(request.stdin_name or request.paths[0]))
    if settings.warning:
        complain(settings.warning)
    if request.baseline is None:
        request = replace(request, baseline=settings.baseline)
    session = Session(request.paths, _options(request, settings), Progress(sys.stderr))
    if request.paths == (STDIN,):
        from netmend.cli.check_modes import check_stdin

        return check_stdin(session, request)
    if request.watch:
        from netmend.cli.check_modes import watch

        return watch(session, lambda: check_once(session, request))
    return check_once(session, request)


def _refuse_contradictions(request: Request) -> None:
    from netmend.report.check.findings import FORMATS

    if request.form not in FORMATS:
        raise UsageError(f"--format must be one of {', '.join(FORMATS)}, got {request.form!r}")
    if request.jobs is not None and request.jobs < 1:
        raise UsageError(f"--jobs must be 1 or more, got {request.jobs}")
    if STDIN in request.paths and len(request.paths) > 1:
        raise UsageError("- means standard input and cannot be mixed with other paths; check them one by one")
    if request.stdin_name and STDIN not in request.paths:
        raise UsageError(
            f"--stdin-filename is for standard input: netmend check --stdin-filename {request.stdin_name} -"
        )
    if request.fix and request.diff:
        raise UsageError("--fix changes files and --diff only shows the changes; use one of them")
    if request.watch and (request.fix or request.diff or request.write_baseline or STDIN in request.paths):
        raise UsageError("--watch only checks: it cannot be combined with --fix, --diff, --write-baseline, -")
    if request.statistics and request.form not in ("text", "json"):
        raise UsageError(f"--statistics prints text or json, not {request.form}")


def _options(request: Request, settings: CheckSettings) -> CheckOptions:
    chosen = CheckOptions.of(settings, request.select, request.ignore, request.extend_select)
    return replace(
        chosen,
        preview=request.preview,
        force_exclude=request.force_exclude,
        jobs=request.jobs,
        cache=request.cache,
        cache_folder=request.cache_folder,
    )


def check_once(session: Session, request: Request) -> int:
    outcome = session.run()
    if not outcome.files:
        raise UsageError(
            f"there are no .py or .ipynb files in {', '.join(request.paths)}; give a file or another folder"
        )
    if request.write_baseline:
        from netmend.cli.check_modes import write_known

        return write_known(outcome, request)
    if request.fix or request.diff:
        from netmend.cli.check_modes import mend

        return mend(session, outcome, request)
    if request.baseline is not None:
        from netmend.cli.check_modes import without_known

        outcome = without_known(outcome, request.baseline)
    tell(outcome, request)
    return exit_code(outcome, request)


def exit_code(outcome: Outcome, request: Request) -> int:
    if not outcome.checked:
        return NOT_CHECKED
    return CLEAN if request.exit_zero or not (outcome.findings or outcome.problems) else FOUND


def tell(outcome: Outcome, request: Request, stream: IO[str] | None = None) -> None:
    """Findings to the stream or the file that was asked for; what could not be checked to stderr."""
    from netmend.report.check.findings import Look, look_of, render, statistics, summary

    for file, problem in outcome.problems:
        complain(f"{file}: {problem}")
    for file, failure in outcome.failures:
        complain(f"{file}: a rule failed and was skipped: {failure}. Please report it")
    stream = stream or sys.stdout
    look = Look() if request.output is not None else look_of(stream)
    if request.statistics:
        text = statistics(outcome, request.form, look)
    else:
        text = render(request.form, outcome, look)
        if request.form == "text" and request.show_fixes:
            text += _fixes(outcome.fixed)
        if request.form in ("text", "concise") and not request.quiet:
            text += summary(outcome, look, request.unsafe_fixes)
    write(text, request.output, stream)


def write(text: str, output: Path | None, stream: IO[str]) -> None:
    from netmend.report.check.findings import write_to

    if output is None:
        write_to(stream, text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{output} cannot be written: {problem.strerror or problem}") from None


def _fixes(fixed: Sequence[Finding]) -> str:
    lines = []
    for finding in fixed:
        cell = f"cell {finding.cell}:" if finding.cell is not None else ""
        title = finding.fix.title if finding.fix is not None else finding.message
        lines.append(f"{finding.file}:{cell}{finding.line}: {finding.code} fixed: {title}\n")
    return "".join(lines)


def complain(line: str) -> None:
    from netmend.report.check.findings import write_to

    write_to(sys.stderr, f"netmend: {line}\n")
