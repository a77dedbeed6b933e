"""Symptoms → causes, best first; reasons that a stronger cause accounts for no longer count for a weaker one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from netmend.diagnose import examine
from netmend.diagnose.measures.ending import finished
from netmend.diagnose.measures.objective import objective, right_more_often_than_chance
from netmend.diagnose.measures.progress import progress
from netmend.localise.case import Case
from netmend.localise.cause import CAUSES, Cause
from netmend.localise.crash import crash_of
from netmend.localise.findings import advised, with_findings
from netmend.program.text.sources import Sources
from netmend.vocabulary import (
    CRASHED,
    FAULTY,
    HEALTHY,
    LEAVES,
    UNDECIDED,
    Advice,
    Crash,
    Diagnosis,
    Fault,
    Trace,
)
from netmend.vocabulary.finding import Finding

# Nothing learned, the loss rose for good, values became non-finite: a run that shows one of these has failed, whatever the cause.
UNMISSABLE = ("D501", "D502", "D110", "D130")


# Worth knowing, but no reason to wake a person: gradients kept in evaluation, modules never called, parts that are frozen.
ADVISORY = ("D224", "D226", "D220")


@dataclass(frozen=True)
class Ranking:
    """How sure a fault must be before a person is told."""

    least_confidence: float = 0.5  # more likely than not, on the calibration programs
    least_residual: float = 0.35  # the same without the reasons that a told cause accounts for already
    # for the likeliest cause of a run that plainly failed: a poor guess beats silence there
    least_guess: float = 0.03
    constant: float = 0.97  # of the constant prediction's loss: whoever ends there has not been seen to learn
    least_steps: int = 5  # fewer optimiser steps than this say nothing about learning


def diagnose(
    trace: Trace,
    causes: Iterable[Cause] | None = None,
    ranking: Ranking | None = None,
    findings: Iterable[Finding] = (),
) -> Diagnosis:
    """What is wrong with a run; pure over the trace, but for the user's source files, which are read for lines.

    `findings` are those of `netmend check` in the files of the run: reasons like any other.
    """
    ranking = ranking or Ranking()
    symptoms, failures = examine(trace)
    sources = Sources.of(trace, trace.run.arguments)
    case = Case(trace, symptoms, sources, tuple(findings))
    accused: list[Fault] = []
    chosen = CAUSES.all() if causes is None else tuple(causes)
    problems = [*failures, *CAUSES.problems]
    for cause in chosen:
        try:
            accused.extend(cause.accuse(case))
        except Exception as problem:  # noqa: BLE001 - one cause's mistake must not cost the whole diagnosis
            problems.append(f"{cause.code} ({type(problem).__name__}: {problem})")
    failed = case.has(*UNMISSABLE)
    try:
        accused = with_findings(case, accused)
    except Exception as problem:  # noqa: BLE001 - the run speaks for itself
        problems.append(f"findings ({type(problem).__name__}: {problem})")
    faults, suspects = rank(accused, ranking)
    # An interruption explains a loss that has not fallen yet: no guess is made there.
    if not faults and failed and (finished(trace) or case.has("D502", "D110", "D130")):
        faults, suspects = best_guess(suspects, ranking)
    crash = crash_of(trace, symptoms)
    verdict, reason = _verdict(trace, faults, crash, ranking)
    headline, story = _headline(case, crash)
    advice = tuple(
        Advice(s.code, s.message, s.site) for s in case.of(*ADVISORY) if s.code not in _told(faults)
    )
    advice += tuple(advised(case))
    return Diagnosis(
        verdict,
        faults,
        suspects,
        advice,
        symptoms,
        reason,
        tuple(problems),
        case.findings,
        headline,
        story,
        crash,
    )


def _headline(case: Case, crash: Crash | None) -> tuple[str, tuple[str, ...]]:
    """What comes before any cause: the program crashed, the network died."""
    if crash is not None:
        return "crashed" if crash.site is None else f"crashed at {crash.site.short}", crash.notes
    for death in case.of("D130"):
        step = death.first_step
        return f"the network died at step {step}" if step else "the network is dead from the start", (
            death.message,
        )
    return "", ()


def _told(faults: Iterable[Fault]) -> set[str]:
    return {code for fault in faults for code in fault.symptoms}


def rank(accused: Iterable[Fault], ranking: Ranking) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """Faults to tell and suspects to keep back. Of one cause at one place, only the surest accusation counts."""
    ordered = sorted(
        accused, key=lambda fault: (-fault.confidence, -1 if fault.first_step is None else fault.first_step)
    )
    told: list[Fault] = []
    kept: list[Fault] = []
    explained: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for fault in ordered:
        key = (fault.cause, str(fault.site or fault.component))
        if key in seen:
            continue
        seen.add(key)
        own = set(fault.symptoms)
        if (
            fault.confidence < ranking.least_confidence
            or (own and own <= explained)
            or residual(fault, explained) < ranking.least_residual
        ):
            kept.append(fault)
            continue
        told.append(fault)
        explained |= fault.explains
    told.sort(key=lambda fault: LEAVES[fault.cause].mild)
    return tuple(told), tuple(kept)


def residual(fault: Fault, explained: set[str]) -> float:
    """How sure a fault is without what told faults account for: reasons are explained away, not faults.

    Reasons against it that spoke about the same observations go with them.
    """
    taken = sum(item.weight for item in fault.evidence if item.weight > 0 and item.symptom in explained)
    against = -sum(item.weight for item in fault.evidence if item.weight < 0)
    sure = min(0.999, max(0.001, fault.confidence))
    odds = math.log(sure / (1 - sure)) - taken + min(taken, against)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def best_guess(suspects: tuple[Fault, ...], ranking: Ranking) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """A run that plainly fails is told about even when no cause is sure: the likeliest one, with its low confidence."""
    likely = [fault for fault in suspects if fault.confidence >= ranking.least_guess]
    return tuple(likely[:1]), tuple(fault for fault in suspects if fault not in likely[:1])


def _verdict(
    trace: Trace, faults: tuple[Fault, ...], crash: Crash | None, ranking: Ranking
) -> tuple[str, str]:
    if faults:
        return FAULTY, faults[0].summary
    if crash is not None:
        return CRASHED, f"{crash.exception}: {crash.message}".rstrip(": ")
    if trace.run.steps < ranking.least_steps:
        return UNDECIDED, f"only {trace.run.steps} optimiser steps were seen: too few to judge"
    if not progress(trace):
        return UNDECIDED, "no training loss was seen, so learning cannot be judged"
    course = objective(trace)
    left = None if course is None else course.last_relative
    if (
        course is not None
        and left is not None
        and left >= ranking.constant
        and not right_more_often_than_chance(trace, course)
    ):
        return (
            UNDECIDED,
            f"the loss ended at {left:.2f} times that of the best constant prediction, and no cause was found",
        )
    return HEALTHY, "No fault found"
