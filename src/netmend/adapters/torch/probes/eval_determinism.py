"""In eval mode: does the model say the same twice?"""

from __future__ import annotations

from netmend.adapters.torch.probes.bench import Bench, Found, largest
from netmend.adapters.torch.probes.operations import survey

WHAT = "eval determinism"


def examine(bench: Bench) -> Found | None:
    base = bench.base
    again = bench.output(go_on=True)
    if base is None or again is None or base.shape != again.shape:
        return None
    scale = largest(base) or 1.0
    difference = largest(base - again) / scale
    place = survey(bench).random if difference > 1e-5 else None
    values = {"difference": difference, "operation": "", "kind": ""}
    if place is not None:
        values |= {"operation": place.operation, "kind": place.kind}
    return Found(values, place.site if place is not None else None)
