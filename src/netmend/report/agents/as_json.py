"""A study of a reinforcement-learning program for machines: the JSON contract (docs/rl.md)."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from netmend.mutate.agents.published import MEAN_SENSITIVITY, RLMUTATION_BEST, SOURCE, rows_for
from netmend.mutate.agents.result import EDGE, STRONG, OperatorResult, RlStudy
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def rl_json(found: RlStudy) -> str:
    """The study as one JSON object; numbers that are not finite are null."""
    return json_text(rl_data(found))


def rl_data(found: RlStudy) -> dict[str, Any]:
    rows = rows_for(found.environment, found.algorithm)
    data = {
        "schema": SCHEMA,
        "netmend": VERSION,
        "kind": "reinforcement learning",
        "script": found.script,
        "algorithm": found.algorithm,
        "environment": found.environment,
        "failed": found.criterion,
        "profile": found.profile,
        "runs": found.runs,
        "original": {
            "failure_shares": list(found.original_failures),
            "mean_returns": list(found.original_returns),
        },
        "generators": list(found.generators),
        "scores": {name: found.score(name) for name in found.generators},
        "sensitivity": {
            "strong": found.sensitivity(STRONG),
            "edge": found.sensitivity(EDGE),
            "strong_on_published_operators": found.sensitivity(STRONG, published_only=True),
            "edge_on_published_operators": found.sensitivity(EDGE, published_only=True),
        },
        "published": {
            "source": SOURCE,
            "mean_over_pairs": MEAN_SENSITIVITY,
            "rlmutation_best": RLMUTATION_BEST,
            "rows": {name: asdict(row) for name, row in rows.items()},
        },
        "operators": [_operator(each) for each in found.operators],
        "starts": [asdict(each) for each in found.covering],
        "trials": found.trainings,
        "cached": found.cached,
        "seconds": found.seconds,
        "cpu_seconds": found.cpu_seconds,
        "estimate": None if found.estimate is None else asdict(found.estimate),
        "stopped": found.stopped,
        "problems": list(found.problems),
    }
    finite: dict[str, Any] = _finite(data)
    return finite


def _operator(each: OperatorResult) -> dict[str, Any]:
    return {
        "code": each.code,
        "published": each.published,
        "title": each.title,
        "verdict": each.verdict,
        "killable": each.killable,
        "trivial": each.trivial,
        "tried": [{**asdict(one), "is_trivial": one.is_trivial} for one in each.tried],
        "chosen": None if each.chosen is None else asdict(each.chosen),
        "lines": [{"file": file, "line": line} for file, line in each.lines],
        "kill_rates": dict(each.rates),
        "killed": dict(each.killed),
        "sensitivity": each.sensitivity(),
        "revealing": [asdict(one) for one in each.revealing],
    }


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
