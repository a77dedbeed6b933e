"""Mutation testing for machines: the JSON contract (docs/mutate.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from netmend.mutate.outcomes import Score
from netmend.mutate.result import Mutant, MutationResult, SetScore, Turned
from netmend.mutate.verdicts import Verdict
from netmend.report.machine import json_text
from netmend.report.mutate.words import measure_words, operator_words
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def mutate_json(result: MutationResult) -> str:
    """The result as one JSON object; numbers that are not finite are null."""
    return json_text(mutate_data(result))


def mutate_data(result: MutationResult) -> dict[str, Any]:
    """The result as plain data; see docs/mutate.md."""
    cost = result.estimate
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "script": result.script,
        "arguments": list(result.arguments),
        "profile": result.profile,
        "metric": {"name": measure_words(result), "higher_is_better": result.higher_is_better},
        "paired": result.paired,
        "seeds": list(result.seeds),
        "training": _numbers(result.training),
        "tests": [_set(each) for each in result.sets],
        "operators": [{"code": code, "title": operator_words(code)} for code in result.operators],
        "mutants": [_mutant(each) for each in result.mutants],
        "strengths": [_turned(each) for each in result.turned],
        "estimate": None if cost is None else asdict(cost),
        "trainings": result.trainings,
        "cached": result.cached,
        "seconds": _finite(result.seconds),
        "stopped": result.stopped,
        "notes": list(result.problems),
    }


def _set(each: SetScore) -> dict[str, Any]:
    return {
        "name": each.name,
        "description": each.words,
        "inputs": each.inputs,
        "originals": _numbers(each.originals),
        "score": each.source.score,
        "killed": each.source.killed,
        "killable": each.source.killable,
        "by_operator": dict(each.source.operators),
        "weights": _score(each.weights),
        "part_of": each.part_of or None,
        "sensitivity": each.sensitivity,
        "weights_sensitivity": each.weights_sensitivity,
        "additions": [
            {
                "what": one.what,
                "of": each.pool,
                "label": one.label,
                "inputs": list(one.inputs),
                "kills": list(one.kills),
            }
            for one in each.additions
        ],
    }


def _score(score: Score | None) -> dict[str, Any] | None:
    if score is None:
        return None
    return {
        "score": score.score,
        "killed": score.killed,
        "killable": score.killable,
        "by_operator": dict(score.operators),
    }


def _mutant(mutant: Mutant) -> dict[str, Any]:
    return {
        "name": mutant.name,
        "operator": mutant.operator,
        "cause": mutant.cause or None,
        "title": mutant.title,
        "level": mutant.level,
        "standing": mutant.standing,
        "runs": mutant.runs,
        "triviality": _finite(mutant.triviality),
        "value": _finite(mutant.value),
        "strength": mutant.knob or None,
        "place": mutant.place or None,
        "patch": mutant.patch or None,
        "note": mutant.note or None,
        "verdicts": {test: _verdict(verdict) for test, verdict in mutant.verdicts.items()},
        "scores": {test: _numbers(scores) for test, scores in mutant.scores.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "killed": verdict.killed,
        "p_value": _finite(verdict.p_value),
        "effect_size": _finite(verdict.effect_size),
        "power": _finite(verdict.power),
        "better": verdict.better,
        "runs": verdict.runs,
        "reason": verdict.reason,
        "clear": verdict.is_clear,
    }


def _turned(knob: Turned) -> dict[str, Any]:
    return {
        "operator": knob.operator,
        "title": knob.title,
        "mildest": knob.scale.mildest,
        "extreme": knob.scale.extreme,
        "found": {
            test: {
                "killed": found.killed,
                "survived": found.survived,
                "tried": [value for value, _ in found.tried],
            }
            for test, found in knob.found.items()
        },
    }


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
