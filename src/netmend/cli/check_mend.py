"""`--fix` and `--diff`: mends files, or shows how they would be mended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netmend.check import baseline, fix
from netmend.check.discover import absolute
from netmend.check.mend import Change, Filter, changes, write_all
from netmend.check.outcome import Outcome
from netmend.check.session import Session
from netmend.cli.check import CLEAN, FOUND, NOT_CHECKED, Request, complain, exit_code, tell, write
from netmend.cli.check_known import Names, without_known
from netmend.vocabulary.finding import Finding


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
