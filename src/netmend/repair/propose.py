"""Diagnosis and findings in, candidate changes out: the most likely cure of the most likely cause first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netmend.changes.case import Case
from netmend.program.text.sources import Sources
from netmend.repair.repair import REPAIRS, curing
from netmend.vocabulary import Fault, Trace
from netmend.vocabulary.change import FREE, Change, FileEdit
from netmend.vocabulary.finding import Finding

# Symptoms of data that are prepared wrongly, and the repairs that know them: those of the same leaves change the training.
_OF_PREPARATION = ("D8", "R6")


def for_fault(
    trace: Trace,
    sources: Sources,
    fault: Fault,
    arguments: tuple[str, ...] = (),
    problems: list[str] | None = None,
) -> list[Change]:
    """What can be done about one fault, in the order in which it should be tried."""
    case = Case(trace, sources, fault, arguments)
    found: list[Change] = []
    for repair in curing(fault.cause):
        if repair.code.startswith(_OF_PREPARATION[1]) or not _is_of_preparation(fault):
            found.extend(_asked(repair, case, problems))
    return sorted(found, key=lambda change: (change.effort, _usual(change)))


def _is_of_preparation(fault: Fault) -> bool:
    return any(code.startswith(_OF_PREPARATION[0]) for code in fault.symptoms)


def to_explore(
    trace: Trace, sources: Sources, arguments: tuple[str, ...] = (), problems: list[str] | None = None
) -> list[Change]:
    """What may help whatever the fault is: cheapest first."""
    case = Case(trace, sources, None, arguments)
    found = [
        change for repair in REPAIRS.all() if repair.explores for change in _asked(repair, case, problems)
    ]
    return sorted(found, key=lambda change: change.effort)


def everything(
    trace: Trace, sources: Sources, arguments: tuple[str, ...] = (), problems: list[str] | None = None
) -> list[Change]:
    """Every change that any repair can make of this program, whatever was told of it; for searches without guidance."""
    found: dict[object, Change] = {}
    for repair in REPAIRS.all():
        for cause in ("", *repair.cures):
            blind = Fault(cause, 0.0, "", None, "", "", "", "") if cause else None
            for change in _asked(repair, Case(trace, sources, blind, arguments), problems):
                found.setdefault((change.edits, change.arguments), change)
    return list(found.values())


def from_findings(findings: Iterable[Finding], sources: Sources) -> Iterator[Change]:
    """The fixes of the static checker, as changes."""
    for finding in findings:
        if finding.fix is not None and finding.fix.edits and finding.cell is None:
            file = str(sources.path(finding.file))
            edits = tuple(FileEdit(file, edit) for edit in finding.fix.edits)
            yield Change(
                finding.code, finding.cause, finding.fix.title, edits, knob=finding.cause, effort=FREE
            )


def _usual(change: Change) -> int:
    """Units whose first cure is this cause know it best."""
    unit = next((unit for unit in curing(change.cause) if unit.code == change.repair), None)
    return 1 if unit is None else unit.cures.index(change.cause)


def _asked(repair: object, case: Case, problems: list[str] | None) -> list[Change]:
    try:
        return [change for change in repair.propose(case) if not change.is_empty]  # type: ignore[attr-defined]
    except Exception as problem:  # noqa: BLE001 - one repair's mistake must not cost the others
        if problems is not None:
            problems.append(f"{getattr(repair, 'code', '?')} ({type(problem).__name__}: {problem})")
        return []
