"""Is the whole model an affine function of its input? Then its layers are worth no more than one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from netmend.adapters.torch.probes.bench import Bench, Found, largest, spread

WHAT = "affine"


def examine(bench: Bench) -> Found | None:
    if not all(leaf.is_floating_point() for leaf in bench.batched):
        return None  # there is nothing half-way between two words
    base, rolled = bench.base, bench.rolled
    if base is None or rolled is None or not spread(base):
        return None
    middle = bench.output(_middle)
    if middle is None or not (middle.shape == base.shape == rolled.shape):
        return None
    apart = largest(rolled - base)
    if not apart:
        return None
    curvature = largest(base + rolled - 2 * middle) / apart
    return Found({"curvature": curvature, "weight_layers": weight_layers(bench.module)}, bench.call.site)


def _middle(tensor: Tensor) -> Tensor:
    return (tensor + tensor.roll(1, 0)) / 2


def weight_layers(module: nn.Module) -> int:
    """Layers that multiply by a matrix of weights."""
    weights = {id(p) for p in module.parameters() if p.dim() >= 2 and min(p.shape[:2]) >= 1}
    looked_up = {id(child.weight) for child in module.modules() if isinstance(child, torch.nn.Embedding)}
    return len(weights - looked_up)
