"""Every single change of a configuration: what repairs can make and what moves can make, the likeliest to matter first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from netmend.changes.case import Case
from netmend.neutral.move import MOVES
from netmend.program.text.sources import Sources
from netmend.repair.problem import Problem
from netmend.repair.propose import everything, for_fault
from netmend.repair.version import Version
from netmend.trials.trial import Outcome
from netmend.vocabulary import Trace
from netmend.vocabulary.change import Change

_LEAST_SUSPICION = 0.02


def neighbours(problem: Problem, version: Version, outcome: Outcome, problems: list[str]) -> list[Change]:
    """Changes of one configuration, as its own recorded run and source offer them.

    First what its diagnosis calls for, a remedy of each cause in turn; then one change of everything that can be changed,
    then the second of each, and so on: a budget that ends early has still seen the most different things.
    """
    trace = problem.trace(outcome)
    if trace is None:
        return []
    sources, arguments = problem.sources(trace), version.current_arguments
    diagnosis = problem.diagnosis(trace)
    suspects = [fault for fault in diagnosis.suspects if fault.confidence >= _LEAST_SUSPICION]
    told = [for_fault(trace, sources, fault, arguments, problems) for fault in (*diagnosis.faults, *suspects)]
    blind = sorted(everything(trace, sources, arguments, problems), key=lambda change: change.effort)
    rest = [*_moves(trace, sources, arguments, problems), *blind]
    return _unique([*_in_turn(told), *_by_knob(rest)])


def _moves(
    trace: Trace, sources: Sources, arguments: tuple[str, ...], problems: list[str]
) -> Iterator[Change]:
    case = Case(trace, sources, None, arguments)
    for move in MOVES.all():
        try:
            yield from [change for change in move.propose(case) if not change.is_empty]
        except Exception as problem:  # noqa: BLE001 - one move's mistake must not cost the others
            problems.append(f"{move.code} ({type(problem).__name__}: {problem})")


def _by_knob(changes: Iterable[Change]) -> Iterator[Change]:
    by_knob: dict[str, list[Change]] = {}
    for change in changes:
        by_knob.setdefault(change.knob, []).append(change)
    yield from _in_turn(list(by_knob.values()))


def _in_turn(lists: Sequence[Sequence[Change]]) -> Iterator[Change]:
    """The first of each, then the second of each, …"""
    for row in zip_longest(*lists):
        yield from (change for change in row if change is not None)


def _unique(changes: Iterable[Change]) -> list[Change]:
    found: dict[object, Change] = {}
    for change in changes:
        found.setdefault((frozenset(change.edits), change.arguments), change)
    return list(found.values())
