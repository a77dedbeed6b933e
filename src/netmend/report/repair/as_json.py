"""A repair for machines: the JSON contract (docs/json.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from netmend.repair.result import Result
from netmend.report.machine import json_text
from netmend.report.repair.patch import places
from netmend.report.repair.proof import metric_words, proof_objective
from netmend.report.repair.words import file_words
from netmend.version import VERSION
from netmend.vocabulary.verification import NONE, Verification

SCHEMA = 1  # extended only by adding


def repair_json(result: Result) -> str:
    """The result as one JSON object; numbers that are not finite are null."""
    return json_text(repair_data(result))


def repair_data(result: Result) -> dict[str, Any]:
    """The result as plain data; see docs/json.md."""
    made = result.verification or Verification(NONE)
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "verdict": result.verdict,
        "script": result.script,
        "patch": result.patch,
        "arguments": None if result.new_arguments is None else list(result.new_arguments),
        "causes": list(result.causes),
        "titles": list(result.titles),
        "changes": _changes(result),
        "metric": _metric(result),
        "seeds": list(made.seeds),
        "before": _numbers(made.before),
        "after": _numbers(made.after),
        "p_value": _finite(made.p_value),
        "effect_size": _finite(made.effect_size),
        "improvement": _finite(made.improvement),
        "interval": None if made.interval is None else _numbers(made.interval),
        "missing": list(made.missing),
        "new_faults": list(made.new_faults),
        "new_symptoms": list(made.new_symptoms),
        "cost": {
            "steps_before": _finite(made.steps_before),
            "steps_after": _finite(made.steps_after),
            "seconds_before": _finite(made.seconds_before),
            "seconds_after": _finite(made.seconds_after),
        },
        "trainings": _finite(result.trainings),
        "verification_trainings": made.trainings,
        "seconds": _finite(result.seconds),
        "budget": result.budget,
        "stopped": result.stopped,
        "baseline": _baseline(result),
        "faults": _faults(result),
        "tried": _tried(result),
        "failures": list(result.problems),
    }


def _changes(result: Result) -> list[dict[str, Any]]:
    found = []
    for part, place in zip(result.version.parts, places(result.version), strict=True):
        file, line = place or (None, None)
        change = part.change
        found.append(
            {
                "title": change.title,
                "cause": change.cause,
                "repair": change.repair,
                "file": file,
                "line": line,
            }
        )
    return found


def _metric(result: Result) -> dict[str, Any]:
    objective = proof_objective(result)
    return {
        "name": None if objective is None else metric_words(objective),
        "higher_is_better": None if objective is None else objective.higher_is_better,
        "description": None if objective is None else objective.name,
        "held_out": None if objective is None else objective.held_out,
    }


def _baseline(result: Result) -> dict[str, Any]:
    baseline, objective = result.baseline, result.objective
    return {
        "status": baseline.status,
        "value": None if objective is None else _finite(objective.value(baseline)),
        "faults": list(baseline.faults),
        "steps": baseline.steps,
        "seconds": _finite(baseline.seconds),
        "exception": baseline.exception or None,
        "refused": list(baseline.notes),
    }


def _faults(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "code": fault.cause,
            "title": fault.title,
            "confidence": _finite(fault.confidence),
            "file": None if fault.site is None else file_words(result, fault.site.file),
            "line": None if fault.site is None else fault.site.line,
            "summary": fault.summary,
        }
        for fault in (() if result.diagnosis is None else result.diagnosis.faults)
    ]


def _tried(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "title": item.change.title,
            "cause": item.change.cause,
            "repair": item.change.repair,
            "status": item.status,
            "value": _finite(item.value),
            "gain": _finite(item.gain),
            "cost": _finite(item.cost),
            "accepted": item.accepted,
        }
        for item in result.attempts
    ]


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
