"""What to try next: the remedies of told faults and of static findings first, in turn; then suspects; then what often helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from netmend.check.run import check_text
from netmend.program.engine.project import Project
from netmend.program.text.sources import Sources
from netmend.repair.propose import everything, for_fault, from_findings, to_explore
from netmend.vocabulary import Diagnosis, Fault, Trace
from netmend.vocabulary.change import ARCHITECTURE, BUDGET, BY_FACTS, Change
from netmend.vocabulary.finding import Finding

_MOST_PER_FAULT = 4
_LEAST_SUSPICION = 0.02
_SURE = 0.9


@dataclass(frozen=True)
class Candidates:
    """Changes by how strongly something calls for them."""

    called_for: tuple[Change, ...]  # by a told fault or a finding
    suspected: tuple[Change, ...]
    exploratory: tuple[Change, ...]
    blind: tuple[Change, ...] = ()  # whatever can be changed at all, when nothing else helped
    certain: tuple[Change, ...] = ()  # one for each mistake that is beyond doubt
    problems: tuple[str, ...] = ()


def candidates(
    trace: Trace,
    diagnosis: Diagnosis,
    sources: Sources,
    findings: Sequence[Finding],
    arguments: tuple[str, ...],
    poor: bool = False,
) -> Candidates:
    """What the run and the source of the best version so far call for. `poor`: it learned little, whatever is told."""
    problems: list[str] = []
    static = list(from_findings(findings, sources))
    told = [
        for_fault(trace, sources, fault, arguments, problems)[:_MOST_PER_FAULT] for fault in diagnosis.faults
    ]
    # What a run has shown is more than what its source shows: a repair may have to change what reads an output too.
    causes = {fault.cause for fault in diagnosis.faults}
    agreed = [change for change in static if change.cause in causes]
    others = [change for change in static if change.cause not in causes]
    called_for = _in_turn([*told, agreed, others])
    suspects = [
        for_fault(trace, sources, fault, arguments, problems)[:2]
        for fault in diagnosis.suspects
        if fault.confidence >= _LEAST_SUSPICION
    ]
    explore = to_explore(trace, sources, arguments, problems)
    healthy = not diagnosis.faults and not poor
    # A healthy program gets better by more training or a larger network; that mends nothing.
    exploratory = [change for change in explore if not (healthy and change.effort >= BUDGET)]
    sure = [
        changes[0]
        for fault, changes in zip(diagnosis.faults, told, strict=True)
        if changes and _is_sure(fault, changes[0])
    ]
    certain = {change.cause: change for change in (*reversed(agreed), *reversed(sure))}
    return Candidates(
        tuple(called_for),
        tuple(_in_turn(suspects)),
        tuple(exploratory),
        # Where nothing is told and learning goes well, only mistakes are looked for; other values would be tuning.
        _blind(trace, sources, arguments, problems, BY_FACTS if healthy else ARCHITECTURE),
        tuple(certain.values()),
        tuple(dict.fromkeys(problems)),
    )


def _blind(
    trace: Trace, sources: Sources, arguments: tuple[str, ...], problems: list[str], most_effort: int
) -> tuple[Change, ...]:
    """All changes, the cheapest kinds first; of one knob the first before any second."""
    offered = [c for c in everything(trace, sources, arguments, problems) if c.effort <= most_effort]
    found = sorted(offered, key=lambda change: change.effort)
    by_knob: dict[str, list[Change]] = {}
    for change in found:
        by_knob.setdefault(change.knob, []).append(change)
    return tuple(_in_turn([options[:2] for options in by_knob.values()]))


def _is_sure(fault: Fault, change: Change) -> bool:
    return fault.confidence >= _SURE and change.effort <= BY_FACTS


def findings_of(sources: Sources, files: Iterable[str]) -> list[Finding]:
    """What the static checker says about the program's own files."""
    project = Project()
    found: list[Finding] = []
    for file in files:
        found.extend(check_text(sources.text(file), str(Path(file)), project=project).findings)
    return found


def _in_turn(lists: Sequence[Sequence[Change]]) -> Iterator[Change]:
    """The first of each, then the second of each, …"""
    for row in zip_longest(*lists):
        yield from (change for change in row if change is not None)
