"""`netmend locate`: from a bug report to the files and functions that it is about."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from netmend.cli.options import Directory, Quiet, ResultFile, expanded, refuse_bad_file, write_file
from netmend.errors import UsageError
from netmend.trials.options import option

if TYPE_CHECKING:
    from netmend.vocabulary import Diagnosis, Trace

FORMATS = ("text", "json")
_LARGEST = 20_000_000  # bytes of a report; more is a log that should be cut first
_HOW = "give it: --report issue.md, --report - to read standard input, or as text in quotes"


@expanded
def locate(
    text: str | None = option(
        None, "The report itself, instead of --report.", metavar="TEXT", is_argument=True
    ),
    report: str | None = option(None, "The bug report, or a stack trace alone.", metavar="FILE|-"),
    repo: Path = option(Path(), "The repository, or any folder of source.", metavar="DIR"),
    rev: str | None = option(None, "A commit, tag or branch (default: the working tree).", metavar="REV"),
    top: int = option(10, "How many files to show.", least=1),
    opened: str | None = option(
        None, "When the report was written; later commits are ignored.", metavar="DATE"
    ),
    tests: bool = option(False, "Rank test files too."),
    run: str | None = option(
        None, "A recorded run that shows the bug: an id, a path, or 'last'.", metavar="RUN"
    ),
    form: str = option("text", "text or json.", "--format", metavar="FORMAT"),
    json: ResultFile = None,
    cache: bool = option(True, "Cache the parsed source in .netmend/locate.", "--cache/--no-cache"),
    quiet: Quiet = False,
    directory: Directory = None,
) -> int:
    """Rank the files and functions of a repository that a bug report is about, with the reasons.

    Also says what kind of bug it looks like and, where the cause may lie outside the code, what to check.
    Exit code 0: answered; 2: not answered.
    """
    from netmend.cli.progress import LocateProgress
    from netmend.locate.ask import ask
    from netmend.locate.executed import report_of_run

    if form not in FORMATS:
        raise UsageError(f"--format must be one of {', '.join(FORMATS)}, got {form!r}")
    refuse_bad_file("--json", json)
    moment = None if opened is None else parse_moment(opened)
    watched = None if run is None else _of_run(run, directory)
    content = read_text(text, report, "" if watched is None else report_of_run(*watched))
    with LocateProgress(quiet) as progress:
        found = ask(
            content,
            repo,
            rev,
            top=top,
            opened=moment,
            tests=tests,
            run=watched,
            cache=cache,
            directory=directory,
            say=progress.say,
        )
    if json is not None:
        write_file(json, found.json())
    if form == "json":
        sys.stdout.write(found.json())
    elif not quiet:
        from netmend.report.locate import located_document
        from netmend.report.terminal import console, draw

        # a path to open may be longer than a line
        console(sys.stdout).print(draw(located_document(found)), crop=False)
    return 0


def read_text(text: str | None, report: str | None, told_by_run: str = "") -> str:
    """The report's text: an argument, a file, standard input, or what a run tells about itself."""
    if text is not None and report is not None:
        raise UsageError("the report comes both as text and by --report; use only one")
    if text is not None:
        if "\n" not in text and len(text) < 4_096 and text.endswith((".md", ".txt")) and _is_file(text):
            raise UsageError(f"{text} is a file; to read it: --report {text}")
        return text
    if report is None:
        if told_by_run.strip():
            return told_by_run
        raise UsageError(f"there is no bug report; {_HOW}")
    if report == "-":
        return decoded(sys.stdin.buffer.read(_LARGEST + 1), "standard input")
    if report.startswith(("http://", "https://")):
        raise UsageError(f"{report} is an address, and nothing is fetched; save its text and {_HOW}")
    try:
        with Path(report).open("rb") as file:
            return decoded(file.read(_LARGEST + 1), report)
    except (OSError, ValueError) as problem:
        words = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise UsageError(f"the report {report!r} cannot be read ({words}); {_HOW}") from None


def decoded(content: bytes, name: str) -> str:
    """Text of a report: UTF-8, UTF-16 with a mark, else as far as it can be read."""
    if len(content) > _LARGEST:
        raise UsageError(
            f"{name} holds more than {_LARGEST // 1_000_000} MB; cut it down to the error and what comes before it"
        )
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        raise UsageError(f"{name} is not text (it holds null bytes); give the report as text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def parse_moment(text: str) -> float:
    """Seconds since the epoch of `2021-03-04`, `2021-03-04T10:00:00Z` or a number of seconds; UTC unless said."""
    given = text.strip()
    try:
        return float(given) if given.replace(".", "", 1).isdigit() and len(given) > 8 else _moment(given)
    except (ValueError, OverflowError):
        raise UsageError(f"--opened {text!r} is no date; write 2021-03-04 or 2021-03-04T10:30:00Z") from None


def _moment(given: str) -> float:
    moment = datetime.fromisoformat(given.replace("Z", "+00:00").replace("z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _of_run(name: str, directory: Path | None) -> tuple[Trace, Diagnosis]:
    from netmend.api import diagnose

    judged = diagnose(name, directory=directory)
    return judged.trace, judged.diagnosis
