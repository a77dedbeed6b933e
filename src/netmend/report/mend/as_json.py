"""A search for a patch for machines: the JSON contract (docs/json.md)."""

from __future__ import annotations

import math
from typing import Any

from netmend.mend.result import Counts, Mended, Tried
from netmend.mend.tally import Tally
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding


def mend_json(found: Mended) -> str:
    """One JSON object; numbers that are not finite are null."""
    best = found.recommended
    return json_text(
        {
            "schema": SCHEMA,
            "netmend": VERSION,
            "kind": "classifier",
            "model": found.model,
            "recommended": best.method if best else None,
            "verdict": found.verdict.standing,
            "reasons": list(found.verdict.reasons),
            "flaws": list(found.verdict.flaws),
            "bound": found.options.bound,
            "baseline": found.baseline,
            "failing": _counts(found.failing),
            "guard": _counts(found.guard),
            "tried": [_tried(one) for one in found.tried],
            "left_out": [{"method": name, "reason": why} for name, why in found.left_out],
            "notes": list(found.notes),
            "steps": found.options.steps,
            "seed": found.options.seed,
            "seconds": _finite(found.seconds),
            "patch": str(found.files[0]) if found.files else None,
        }
    )


def _tried(one: Tried) -> dict[str, Any]:
    return {
        "method": one.method,
        "rate": one.rate,
        "seen": _tally(one.seen),
        "validation": _tally(one.validation),
        "unseen": _tally(one.unseen),
        "touched": one.touched,
        "share": one.patch.share,
        "norm": _finite(one.patch.norm),
        "part": one.part,
        "steps": one.steps,
        "seconds": _finite(one.seconds),
        "known": one.known,
        "notes": list(one.notes),
    }


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "repaired": tally.repaired,
        "failing": tally.failing,
        "repaired_interval": list(tally.repaired_interval) if tally.failing else None,
        "broken": tally.broken,
        "guarded": tally.guarded,
        "broken_interval": list(tally.broken_interval) if tally.guarded else None,
        "loss": _finite(tally.loss),
        "drift": _finite(tally.drift),
    }


def _counts(counts: Counts) -> dict[str, Any]:
    return {
        "given": counts.given,
        "repair": counts.repair,
        "validation": counts.validation,
        "unseen": counts.unseen,
        "shared": counts.shared,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
