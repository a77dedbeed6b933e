"""The repair of a language model for machines (docs/json.md)."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netmend.report.machine import json_text
from netmend.report.mend.as_json import SCHEMA
from netmend.version import VERSION

if TYPE_CHECKING:
    from netmend.mend.torch.language.outcome import Options, Outcome


def language_json(outcome: Outcome, options: Options, model: Path, written: Path | None) -> str:
    return json_text(
        {
            "schema": SCHEMA,
            "netmend": VERSION,
            "kind": "language",
            "model": str(model),
            "recommended": outcome.recommended,
            "bound": options.bound,
            "tried": [{key: _finite(value) for key, value in asdict(one).items()} for one in outcome.tried],
            "plans": [
                {
                    "one_block": one.one_block,
                    "fits": one.fits,
                    "recompute": one.recompute,
                    "logits_at_once": one.positions,
                    "reference": one.reference,
                    "needs": one.needs,
                    "total": one.total,
                    "free": one.free,
                }
                for one in outcome.plans
            ],
            "steps": options.budget.steps,
            "seed": options.seed,
            "patch": None if written is None else str(written),
        }
    )


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
