"""A patch of weights for machines: the JSON contract (docs/mend.md)."""

from __future__ import annotations

import math
from typing import Any

from netmend.mend.change_model import Changed
from netmend.mend.changes import largest_changes
from netmend.mend.fit import State
from netmend.mend.patch import Patch
from netmend.report.machine import json_text
from netmend.version import VERSION

SCHEMA = 1  # extended only by adding
_MOST_CHANGES = 100


def patch_json(patch: Patch, state: State | None = None, changed: Changed | None = None) -> str:
    """One JSON object; numbers that are not finite are null."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "netmend": VERSION,
        "model": {
            "fingerprint": patch.model.short,
            "tensors": len(patch.model.marks),
            "elements": patch.model.elements,
        },
        "touched": patch.touched,
        "share": patch.share,
        "norm": _finite(patch.norm),
        "state": state.value if state else None,
        "tensors": [
            {
                "name": piece.name,
                "shape": list(piece.shape),
                "dtype": piece.dtype,
                "touched": piece.touched,
                "norm": _finite(piece.norm),
            }
            for piece in patch.pieces
        ],
        "largest": [
            {"name": one.name, "place": list(one.place), "old": _finite(one.old), "new": _finite(one.new)}
            for one in largest_changes(patch, _MOST_CHANGES)
        ],
        "meta": dict(sorted(patch.meta.items())),
    }
    if changed is not None:
        data["written"] = str(changed.out)
        data["kept"] = str(changed.kept) if changed.kept else None
    return json_text(data)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
