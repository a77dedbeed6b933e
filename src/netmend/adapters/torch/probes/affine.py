"""Is the whole model an affine function of its input? Then its layers are worth no more than one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.probes.bench import Bench, Found, largest, spread
from netmend.adapters.torch.probes.operations import survey

WHAT = "affine"
_STRAIGHT = 1e-3


def examine(bench: Bench) -> Found | None:
    if not all(leaf.is_floating_point() for leaf in bench.batched):
        return None  # there is nothing half-way between two words
    base, rolled = bench.base, bench.rolled
    if base is None or rolled is None or not spread(base):
        return None
    middle = bench.output(_middle)
    if middle is None or not (middle.shape == base.shape == rolled.shape):
        return None
    return _found(bench, base, rolled, middle)


def alone(bench: Bench) -> Found | None:
    """The same for a program that is given single samples: half-way between one and itself the other way round."""
    if not bench.batched or not all(leaf.is_floating_point() for leaf in bench.batched):
        return None
    base, other, middle = bench.base, bench.output(_turned), bench.output(_half_turned)
    if base is None or other is None or middle is None or not (middle.shape == base.shape == other.shape):
        return None
    return _found(bench, base, other, middle)


def _found(bench: Bench, base: Tensor, other: Tensor, middle: Tensor) -> Found | None:
    apart = largest(other - base)
    if not apart:
        return None
    curvature = largest(base + other - 2 * middle) / apart
    values: dict[str, Any] = {"curvature": curvature, "weight_layers": weight_layers(bench.module)}
    if curvature < _STRAIGHT:
        found = survey(bench)
        values["weight_layers"] = min(values["weight_layers"], found.products or values["weight_layers"])
        if found.weighted is not None and found.weighted.site is not None:
            place = found.weighted.site
            values |= {"weighted_file": place.file, "weighted_line": place.line}
    return Found(values, bench.call.site)


def _turned(tensor: Tensor) -> Tensor:
    return tensor.flip(tuple(range(1, tensor.dim())))


def _half_turned(tensor: Tensor) -> Tensor:
    return (tensor + _turned(tensor)) / 2


def _middle(tensor: Tensor) -> Tensor:
    return (tensor + tensor.roll(1, 0)) / 2


def weight_layers(module: nn.Module) -> int:
    """Layers that multiply by a matrix of weights."""
    weights = {id(p) for p in module.parameters() if p.dim() >= 2 and min(p.shape[:2]) >= 1}
    looked_up = {id(child.weight) for child in module.modules() if isinstance(child, torch.nn.Embedding)}
    return len(weights - looked_up)
