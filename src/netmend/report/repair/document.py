"""A repair as it is told: the verdict, what was wrong, the patch, the proof, what was tried and what it cost; and its JSON (docs/json.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from netmend.repair.result import Result
from netmend.repair.search import Attempt
from netmend.report.content import Column, Document, Grid, Number, Remark, clean
from netmend.report.machine import Fields, result_json
from netmend.report.numbers import measure, setting, share, sure
from netmend.report.patches import change_data, version_lines
from netmend.report.repair.words import (
    ENDINGS,
    change_remarks,
    cost_remarks,
    failure_remarks,
    file_words,
    is_healthy,
    objective_data,
    place_words,
    proof_objective,
    proof_remarks,
    verdict_words,
)
from netmend.report.terminal import Diff, Inset, Remarks, draw
from netmend.vocabulary import Fault
from netmend.vocabulary.verification import NONE, PROVEN, Verification

_MOST_FAULTS = 3
_MOST_TRIED = 10
AS_IS = "the original program"
AGAIN = "checks: other seeds, parts left out"
_LEAST_SHOWN = 0.05  # trainings
_NO_BETTER = 0.005  # of the error: what rounds to nothing


def repair_document(result: Result, applied: bool = False) -> Document:
    """Verdict first, then what a person needs to judge the patch; `applied`: no word on how to apply it."""
    if is_healthy(result):
        return Document(*verdict_words(result))
    changes: tuple[object, ...] = ()
    if result.version.parts:
        lines = version_lines(result.version, result.script)
        changes = (Inset(Group(Remarks(change_remarks(result)), Diff(lines))),)
    proof = (*proof_remarks(result), *cost_remarks(result), *_end(result, applied))
    tried = (tried_grid(result, _MOST_TRIED),) if result.attempts else ()
    return Document(*verdict_words(result), (*map(Inset, _wrong(result)), *changes, proof, *tried))


def repair_text(result: Result, applied: bool = False) -> RenderableType:
    """On the terminal; what failed in netmend itself stands at the end."""
    failures = f"  parts of netmend failed: {clean('; '.join(result.problems))}"
    return Group(
        draw(repair_document(result, applied)), *([Text(failures, "dim")] if result.problems else [])
    )


def _wrong(result: Result) -> Iterator[RenderableType]:
    failure = tuple(failure_remarks(result))
    if failure:
        yield Remarks(failure)
    faults = () if result.diagnosis is None else result.diagnosis.faults
    yield from (_fault(result, fault) for fault in faults[:_MOST_FAULTS])
    if len(faults) > _MOST_FAULTS:
        yield Text(f"and {len(faults) - _MOST_FAULTS} more: see netmend diagnose", "dim")
    if not faults and result.version.parts:
        yield Text("No fault was reported; the change was found by trial.", "dim")


def _fault(result: Result, fault: Fault) -> RenderableType:
    head = Text(f"{fault.title[:1].upper()}{fault.title[1:]}", "bold")
    head.append(f"  {fault.cause}, {sure(fault.confidence)}", "dim")
    where = place_words(result, fault.site)
    place = (Text(where, "cyan"),) if where else ()
    return Group(head, *place, Remarks((Remark("seen", clean(fault.summary)),)))


def _end(result: Result, applied: bool) -> Iterator[Remark]:
    if result.stopped:
        yield Remark("ended", clean(result.stopped), tone="muted")
    if result.verdict == PROVEN and result.patch and not applied:
        yield Remark("apply", "run the same command with --apply (nothing is trained again)", tone="muted")


def tried_grid(result: Result, most: int | None = None, causes: bool = False) -> Grid:
    """At most so many changes; `causes` adds what each was meant to mend."""
    ordered = sorted(result.attempts, key=lambda item: 0.0 if item.accepted else _badness(result, item))
    shown = ordered[:most]
    columns = (Column("tried"), Column("result"), Number("trainings"))
    rows = [(AS_IS, _baseline_words(result), "1")]
    rows += [(clean(item.change.title), result_words(result, item), _cost(item.cost)) for item in shown]
    again = result.trainings - 1 - sum(item.cost for item in ordered if math.isfinite(item.cost))
    if ordered and again >= _LEAST_SHOWN:
        rows.append((AGAIN, "", _cost(again)))
    left = ordered[len(shown) :]
    spent = sum(item.cost for item in left if math.isfinite(item.cost))
    note = f"and {len(left)} more that helped less, {_cost(spent)} in total" if left else ""
    if not causes:
        return Grid(columns, tuple(rows), note=note)
    codes = ["", *(clean(f"{item.change.cause}, {item.change.repair}") for item in shown)]
    codes += [""] * (len(rows) - len(codes))
    wide = tuple((*row, code) for row, code in zip(rows, codes, strict=True))
    return Grid((*columns, Column("meant for")), wide, note=note)


def result_words(result: Result, attempt: Attempt) -> str:
    """`0.912, error 37.3 % → 8.8 %; kept`, `0.5, 30 % lower`, `stopped early (no gain)`."""
    if attempt.status in ENDINGS:
        # Alone it was no better; together with others it is part of the patch.
        return (
            f"{ENDINGS[attempt.status]}; kept in combination" if attempt.accepted else ENDINGS[attempt.status]
        )
    if attempt.value is None:
        told = "runs to its end" if result.objective is None else "the metric is not a number"
    else:
        told = ", ".join(filter(None, (measure(attempt.value), _gain_words(result, attempt.value))))
    return f"{told}; kept" if attempt.accepted else told


def _badness(result: Result, attempt: Attempt) -> float:
    """Sorts changes: kept ones first, as they were made; then the best result; those without one last."""
    gain = -math.inf if attempt.value is None else _gain(result, attempt.value)
    return math.inf if attempt.status in ENDINGS else 2 + math.atan(-gain)


def _gain(result: Result, value: float) -> float:
    """Against the program as it is: changes that were made upon others would not be comparable otherwise."""
    objective = result.objective
    return 0.0 if objective is None else objective.gain(objective.value(result.baseline), value)


def _gain_words(result: Result, value: float) -> str:
    if not result.baseline.ran:
        return "runs to its end"
    if result.objective is None or result.objective.value(result.baseline) is None:
        return ""
    gain = _gain(result, value)
    if not math.isfinite(gain) or abs(gain) < _NO_BETTER:
        return "no better"
    if gain < -1:
        return "much worse"
    if shares := result.objective.error_shares(result.objective.value(result.baseline), value):
        return f"error {share(shares[0])} → {share(shares[1])}"
    if result.objective.error(value) >= 0:
        return f"{share(abs(gain))} {'lower' if gain > 0 else 'higher'}"
    return f"{'better' if gain > 0 else 'worse'} by {share(abs(gain))}"


def _baseline_words(result: Result) -> str:
    if not result.baseline.ran:
        return ENDINGS.get(result.baseline.status, clean(result.baseline.status))
    if result.objective is None:
        return "runs to its end"
    value = result.objective.value(result.baseline)
    return "the metric is not a number" if value is None else measure(value)


def _cost(value: float) -> str:
    return setting(float(f"{value:.2g}")) if math.isfinite(value) else ""


_CHANGE = Fields("title", "cause", "repair")
_TRIED = Fields(
    "title=change.title",
    "cause=change.cause",
    "repair=change.repair",
    "status",
    "value",
    "gain",
    "cost",
    "accepted",
)
_COST = Fields("steps_before", "steps_after", "seconds_before", "seconds_after")
_PROOF = Fields(
    "seeds",
    "before",
    "after",
    "p_value",
    "effect_size",
    "improvement",
    "interval",
    "missing",
    "new_faults",
    "new_symptoms",
    ("cost", lambda proof: _COST(proof)),
)


def repair_json(result: Result) -> str:
    """One JSON object; see docs/json.md."""
    proof = result.verification or Verification(NONE)
    return result_json(
        {
            "verdict": result.verdict,
            "script": result.script,
            "patch": result.patch,
            "arguments": result.new_arguments,
            "causes": result.causes,
            "titles": result.titles,
            "changes": change_data(result.version, _CHANGE),
            "metric": objective_data(proof_objective(result)),
            **_PROOF(proof),
            "trainings": result.trainings,
            "verification_trainings": proof.trainings,
            "seconds": result.seconds,
            "budget": result.budget,
            "stopped": result.stopped,
            "baseline": _baseline(result),
            "faults": _faults(result),
            "tried": _TRIED.of(result.attempts),
            "failures": result.problems,
        }
    )


def _baseline(result: Result) -> dict[str, Any]:
    baseline, objective = result.baseline, result.objective
    return {
        "status": baseline.status,
        "value": None if objective is None else objective.value(baseline),
        "faults": baseline.faults,
        "steps": baseline.steps,
        "seconds": baseline.seconds,
        "exception": baseline.exception or None,
        "refused": baseline.notes,
    }


def _faults(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "code": fault.cause,
            "title": fault.title,
            "confidence": fault.confidence,
            "file": None if fault.site is None else file_words(result, fault.site.file),
            "line": None if fault.site is None else fault.site.line,
            "summary": fault.summary,
        }
        for fault in (() if result.diagnosis is None else result.diagnosis.faults)
    ]
