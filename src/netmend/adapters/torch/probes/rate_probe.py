"""Copies trained for a few steps on one batch, at other learning rates than the program's: does another do far better?"""

from __future__ import annotations

from typing import Any

from netmend.adapters.torch.probes.bench import Found
from netmend.adapters.torch.probes.workshop import Workshop

WHAT = "rate probe"
FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)
_STEPS, _SECONDS = 10, 0.5


def examine(workshop: Workshop) -> Found | None:
    first = workshop.train(0, _SECONDS, same_dice=True)[0]
    values: dict[str, Any] = {"first": first, "steps": _STEPS}
    for factor in FACTORS:
        losses = workshop.train(_STEPS, _SECONDS, factor=factor, same_dice=True)
        values[f"x{factor:g}"] = losses[-1] / first if first else None
    return Found(values, workshop.bench.call.site)
