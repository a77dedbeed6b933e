"""A copy of the model, trained on one batch by its own optimiser: can it learn that batch by heart?"""

from __future__ import annotations

from typing import Any

from netmend.adapters.torch.probes.bench import Found
from netmend.adapters.torch.probes.workshop import Workshop

WHAT = "batch overfit"
_STEPS, _SECONDS = 200, 3.0
_GOOD = 0.02  # of the first loss: no need to go on


def examine(workshop: Workshop) -> Found | None:
    first = workshop.train(0, _SECONDS)[0]
    losses = workshop.train(_STEPS, _SECONDS, until=_GOOD * first if first > 0 else float("-inf"))
    constant = workshop.constant
    values: dict[str, Any] = {
        "first": first,
        "best": min(losses),
        "last": losses[-1],
        "steps": len(losses) - 1,
        "constant": constant,
        "s": min(losses) / constant if constant else None,
    }
    return Found(values, workshop.bench.call.site)
