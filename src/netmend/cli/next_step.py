"""The one command that helps most after a run, ready to be pasted; none where nothing is wrong."""

from __future__ import annotations

import shlex
from pathlib import Path

from netmend.vocabulary import Diagnosis, Fault, Trace, WorldFact
from netmend.vocabulary.finding import SAFE, Finding, Fix


def next_command(trace: Trace, diagnosis: Diagnosis) -> str:
    """`netmend check --fix` where it mends every fault that was told, else `netmend repair` with the program as it was run."""
    run = trace.run
    faults = diagnosis.faults
    here = Path(run.working_directory or ".")
    if not faults or (run.working_directory and not here.is_dir()):
        return ""
    start = "" if here.resolve() == Path.cwd().resolve() else f"cd {shlex.quote(str(here))} && "
    fixes = [_fixing(fault, diagnosis.findings) for fault in faults]
    known = [finding for finding in fixes if finding is not None]
    if len(known) == len(faults):
        return start + _check(known, here)
    is_script = run.script.endswith(".py")
    if not (here / run.script).is_file() if is_script else not _is_module(run.script):
        return ""
    if trace.environment.world_size > 1 or trace.all(WorldFact):  # repair trains one process, and no agents
        return ""
    program = [run.script] if is_script else ["-m", run.script]
    return start + shlex.join(["netmend", "repair", *program, *run.arguments])


def _fixing(fault: Fault, findings: tuple[Finding, ...]) -> Finding | None:
    """The finding whose fix is what the fault asks for: of the same cause, at one of its lines."""
    sites = {(site.file, site.line) for site in (fault.site, *fault.related) if site is not None}
    for finding in findings:
        lines = range(finding.line, max(finding.line, finding.end_line) + 1)
        fits = finding.cause == fault.cause and any((finding.file, line) in sites for line in lines)
        if (
            fits
            and finding.fix is not None
            and finding.fix.edits
            and _is_all(fault, finding.file, finding.fix)
        ):
            return finding
    return None


def _is_all(fault: Fault, file: str, fix: Fix) -> bool:
    """Whether the fix does all that the fault tells to change: half of a set can be worse than nothing."""
    if fault.edit is None:
        return True
    lines = {(file, line) for edit in fix.edits for line in range(edit.line, edit.end_line + 1)}
    told = {(one.file, one.edit.line) for one in fault.edit.edits}
    return fault.edit.arguments is None and told <= lines


def _check(findings: list[Finding], here: Path) -> str:
    safe = all(finding.fix is not None and finding.fix.applicability == SAFE for finding in findings)
    codes = ",".join(dict.fromkeys(finding.code for finding in findings))
    files = dict.fromkeys(_relative(finding.file, here) for finding in findings)
    options = ["--fix"] if safe else ["--fix", "--unsafe-fixes"]
    return shlex.join(["netmend", "check", *options, "--select", codes, *files])


def _relative(file: str, here: Path) -> str:
    try:
        return str(Path(file).relative_to(here.absolute()))
    except ValueError:
        return file


def _is_module(name: str) -> bool:
    return bool(name) and all(part.isidentifier() for part in name.split("."))
