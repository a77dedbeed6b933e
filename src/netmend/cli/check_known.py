"""`--baseline` and `--write-baseline`: findings that are known. Names in the file count from its own folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from netmend.check import baseline
from netmend.check.outcome import Outcome
from netmend.cli.check import CLEAN, NOT_CHECKED, Request, complain, tell
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
