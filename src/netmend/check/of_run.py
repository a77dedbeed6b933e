"""The findings that belong to a recorded run: its script, and the project files that the script imports.

A check of this kind is a courtesy to the diagnosis: whatever goes wrong, or takes too long, there are simply no findings.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from netmend.vocabulary import RunFact
from netmend.vocabulary.finding import Finding

SECONDS = 12.0  # for the script with everything that it imports; most take a tenth of a second, on a busy machine reading the rules alone takes two


def findings_of_run(run: RunFact, seconds: float = SECONDS) -> tuple[Finding, ...]:
    """Findings with the rules that the project has chosen, files as absolute paths; () when the source is gone or has changed."""
    script = Path(run.script) if Path(run.script).is_absolute() else Path(run.working_directory) / run.script
    try:
        if script.suffix != ".py" or not _as_it_ran(script, run):
            return ()
        return _checked(script, seconds)
    except Exception:  # noqa: BLE001 - the diagnosis does without
        return ()


def _as_it_ran(script: Path, run: RunFact) -> bool:
    """Whether the file is there and was not written since the run began: what is found must be about what ran."""
    return script.is_file() and (not run.started or script.stat().st_mtime <= run.started)


def _checked(script: Path, seconds: float) -> tuple[Finding, ...]:
    from netmend.check.session import CheckOptions, check_paths
    from netmend.config import read_check_settings

    options = CheckOptions.of(read_check_settings(script))
    options = replace(options, preview=True, jobs=1, cache=False, seconds=seconds, force_exclude=True)
    return tuple(_absolute(finding) for finding in check_paths([str(script)], options).findings)


def _absolute(finding: Finding) -> Finding:
    related = tuple(replace(place, file=str(Path(place.file).absolute())) for place in finding.related)
    return replace(finding, file=str(Path(finding.file).absolute()), related=related)
