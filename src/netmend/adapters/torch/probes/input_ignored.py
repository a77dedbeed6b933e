"""A copy trained on one batch whose inputs are dealt to other samples at every step: nothing but the inputs' use is missing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from netmend.adapters.torch.probes.bench import Found
from netmend.adapters.torch.probes.workshop import Workshop

WHAT = "input ignored"
_STEPS, _SECONDS = 100, 1.0
_LAST = 10  # losses at the end that are averaged: each deals anew


def examine(workshop: Workshop) -> Found | None:
    rows = workshop.bench.rows
    if rows < 4:
        return None

    def dealt(tensor: Tensor, step: int) -> Tensor:
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(step))
        return tensor[order.to(tensor.device)]

    real, shuffled = workshop.train(_STEPS, _SECONDS), workshop.train(_STEPS, _SECONDS, change=dealt)
    constant = workshop.constant
    values: dict[str, Any] = {"real": _end(real), "shuffled": _end(shuffled), "steps": len(real) - 1}
    if constant:
        values |= {"s": values["real"] / constant, "s_shuffled": values["shuffled"] / constant}
    return Found(values, workshop.bench.call.site)


def _end(losses: list[float]) -> float:
    last = losses[-_LAST:]
    return sum(last) / len(last)
