"""`netmend check` with `--baseline`, `--fix`, `--diff`, `--watch`, and from standard input."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from netmend.check import baseline, fix
from netmend.check.discover import absolute
from netmend.check.mend import Change, Filter, change, changes, write_all
from netmend.check.outcome import Outcome
from netmend.check.reading import Bytes, decode, holds_notebook, is_notebook
from netmend.check.session import Session, shown
from netmend.cli.check import CLEAN, FOUND, NOT_CHECKED, complain, exit_code, tell, write
from netmend.cli.check_options import Request
from netmend.errors import UsageError
from netmend.vocabulary.finding import Finding

DEFAULT = "netmend-baseline.json"


def without_known(outcome: Outcome, place: Path) -> Outcome:
    """The outcome without what the baseline knows."""
    names = Names(place)
    findings = {names.inside(finding): finding for finding in outcome.findings}
    parts = baseline.split(
        list(findings),
        baseline.load(place),
        lambda file, cell: outcome.source(names.back(file), cell),
        [names.of(name) for name in outcome.names],
    )
    new = tuple(findings[finding] for finding in parts.new)
    return replace(outcome, findings=new, hidden=len(parts.known), stale=parts.stale)


def write_known(outcome: Outcome, request: Request) -> int:
    """Makes everything that is found now known."""
    place = request.baseline or Path(DEFAULT)
    names = Names(place)
    inside = [names.inside(finding) for finding in outcome.findings]
    count = baseline.write(place, inside, lambda file, cell: outcome.source(names.back(file), cell))
    tell(replace(outcome, findings=()), replace(request, quiet=True, form="text", output=None))
    if not request.quiet:
        what = "1 finding" if count == 1 else f"{count} findings"
        complain(f"{what} written to {place}; to hide them: --baseline {place}")
    return CLEAN if outcome.checked else NOT_CHECKED


class Names:
    """Files as seen from the folder of the baseline, whatever the working directory is."""

    def __init__(self, place: Path) -> None:
        self._folder = place.absolute().parent
        self._given: dict[str, str] = {}

    def of(self, file: str) -> str:
        try:
            name = os.path.relpath(file, self._folder).replace(os.sep, "/")
        except ValueError:  # on another drive
            name = file
        self._given[name] = file
        return name

    def back(self, name: str) -> str:
        return self._given.get(name, name)

    def inside(self, finding: Finding) -> Finding:
        return replace(finding, file=self.of(finding.file))


def mend(session: Session, outcome: Outcome, request: Request) -> int:
    """The exit code counts what is left; with --diff, whether anything would change."""
    outcome = _known(outcome, request.baseline)
    mendable = dict.fromkeys(
        finding.file for finding in outcome.findings if fix.applicable(finding, request.unsafe_fixes)
    )
    # Files that were only followed are read, never changed.
    files = [absolute(name) for name in mendable if name in set(outcome.names)]
    found = list(changes(session, files, request.unsafe_fixes, unknown_to(request.baseline)))
    for failed in found:
        if not isinstance(failed, Change):
            complain(f"{failed[0]}: {failed[1]}")
    mended = [change for change in found if isinstance(change, Change)]
    if request.diff:
        return show_diff(mended, outcome, request)
    written, complaints = write_all(mended)
    for line in complaints:
        complain(line)
    fixed = tuple(finding for change in written for finding in change.fixed)
    left = replace(_known(session.run(), request.baseline), seconds=outcome.seconds, fixed=fixed)
    tell(left, request)
    return exit_code(left, request)


def show_diff(mended: Sequence[Change], outcome: Outcome, request: Request) -> int:
    tell(
        replace(outcome, findings=()),
        replace(request, quiet=True, form="text", output=None, statistics=False),
    )
    write("".join(change.diff() for change in mended), request.output, sys.stdout)
    if not outcome.checked:
        return NOT_CHECKED
    return FOUND if mended and not request.exit_zero else CLEAN


def unknown_to(place: Path | None) -> Filter:
    """Leaves in peace what the baseline knows."""
    if place is None:
        return lambda findings, text: findings
    known, names = baseline.load(place), Names(place)

    def new(findings: Sequence[Finding], text: str) -> Sequence[Finding]:
        inside = {names.inside(finding): finding for finding in findings}
        parts = baseline.split(list(inside), known, lambda file, cell: text)
        return [inside[finding] for finding in parts.new]

    return new


def _known(outcome: Outcome, place: Path | None) -> Outcome:
    return outcome if place is None else without_known(outcome, place)


NAME = "<stdin>"


def check_stdin(session: Session, request: Request) -> int:
    """With --fix the mended program goes to standard output, unchanged if nothing is mended, and findings to stderr."""
    data = Bytes(sys.stdin.buffer.read(), 0, 0)
    path = absolute(request.stdin_name or NAME)
    if not is_notebook(path) and holds_notebook(data.content):
        path += ".ipynb"  # read as Python, its JSON would be a program without a fault
    outcome = _outcome(session, path, data, request)
    if not (request.fix or request.diff):
        tell(outcome, request)
        return exit_code(outcome, request)
    mended = change(session, path, data, request.unsafe_fixes, unknown_to(request.baseline))
    if isinstance(mended, str):
        mended = None  # it is among the problems of the outcome
    if request.diff:
        return show_diff([] if mended is None else [mended], outcome, request)
    content = data.content if mended is None else (mended.mark + mended.new).encode(mended.encoding)
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    if mended is not None:
        outcome = replace(_outcome(session, path, Bytes(content, 0, 0), request), fixed=mended.fixed)
    tell(outcome, request, sys.stderr)
    return exit_code(outcome, request)


def _outcome(session: Session, path: str, data: Bytes, request: Request) -> Outcome:
    source = decode(data.content, is_notebook(path))
    text = "" if isinstance(source, str) else source.text
    results = {path: session.checker.check_bytes(data, path)}
    outcome = replace(session.outcome(results), texts={shown(path): text})
    return outcome if request.baseline is None else without_known(outcome, request.baseline)


EVERY = 0.5  # seconds between two looks; thousands of files take a few hundredths of one
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
Seen = dict[str, tuple[int, int]]


def watch(session: Session, check: Callable[[], int]) -> int:
    """Until Ctrl-C; the exit code is then 0, whatever was found."""
    seen: Seen | None = None
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            now = look(session)
            if now != seen:
                seen = now
                _show(check)
            time.sleep(EVERY)
    return 0


def _show(check: Callable[[], int]) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
    try:
        check()
    except UsageError as problem:  # no file is there at the moment; one may come
        sys.stderr.write(f"netmend: {problem}\n")
    sys.stdout.flush()
    sys.stderr.write(f"Checked at {time.strftime('%H:%M:%S')}. Watching for changes; Ctrl-C ends it.\n")
    sys.stderr.flush()


def look(session: Session) -> Seen:
    """Size and time of change of every file, and of the files beside them that findings rest on."""
    found: Seen = {}
    try:
        files = session.files()
    except UsageError:  # a path that was given is gone
        return found
    for file in (*files, *session.followed()):
        with contextlib.suppress(OSError):
            status = os.stat(file)  # noqa: PTH116 - thousands of them: speed
            found[file] = (status.st_size, status.st_mtime_ns)
    return found
