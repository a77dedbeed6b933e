"""The adequacy of a test set for machines: the JSON contract (docs/adequacy.md)."""

from __future__ import annotations

import math
from typing import Any

from netmend.adequacy.result import Adequacy, Coverage, Surprise
from netmend.report.adequacy.words import verdict_words
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def adequacy_json(found: Adequacy) -> str:
    """One JSON object; numbers that are not finite are null."""
    return json_text(adequacy_data(found))


def adequacy_data(found: Adequacy) -> dict[str, Any]:
    """Plain data; see docs/adequacy.md."""
    return {
        "schema": SCHEMA,
        "netmend": VERSION,
        "summary": verdict_words(found)[1],
        "task": found.task,
        "sets": [
            {
                "name": one.name,
                "looked": one.looked,
                "total": one.total,
                "right": _finite(one.right),
                "not_finite": one.not_finite,
            }
            for one in found.sets
        ],
        "layers": found.layers,
        "trace_of": found.trace_of,
        "coverages": [_coverage(one) for one in found.coverages],
        "surprises": [_surprise(one) for one in found.surprises],
        "classes": [
            {
                "class": row.name,
                "train": row.train,
                "test": row.test,
                "right": _finite(row.right),
                "reached": _finite(row.reached),
                "unsure": _finite(row.unsure),
            }
            for row in found.classes
        ],
        "missing_classes": list(found.missing),
        "source": found.source,
        "suggestions": [
            {
                "method": one.method,
                "inputs": [
                    {"index": pick.index, "score": _finite(pick.score), "predicted": pick.predicted}
                    for pick in one.inputs
                ],
            }
            for one in found.suggestions
        ],
        "mistakes": found.mistakes,
        "apfd": [{"method": method, "value": _finite(value)} for method, value in found.found],
        "notes": list(found.notes),
    }


def _coverage(one: Coverage) -> dict[str, Any]:
    return {
        "name": one.name,
        "value": _finite(one.value),
        "everything": _finite(one.everything),
        "size": one.size,
        "relative": _finite(one.relative),
        "deviation": _finite(one.deviation),
        "samples": [_finite(sample) for sample in one.samples],
        "layers": [{"layer": name, "relative": _finite(ratio)} for name, ratio in one.parts],
        "standing": one.standing,
        "reason": one.reason,
    }


def _surprise(one: Surprise) -> dict[str, Any]:
    return {
        "name": one.name,
        "beyond": _finite(one.beyond),
        "middle": _finite(one.middle),
        "reason": one.reason,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
