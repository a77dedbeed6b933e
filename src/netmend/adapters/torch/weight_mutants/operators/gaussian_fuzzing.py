"""W101."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.mutant import chosen, put_back, register
from netmend.adapters.torch.weight_mutants.weights import normal_like, weights_at, weights_of


@register
@dataclass(frozen=True)
class GaussianFuzzing:
    """Add normally distributed noise to a share of a layer's weights.

    The noise is as large as the weights themselves differ: what depends on exact values is lost.
    """

    code: ClassVar[str] = "W101"
    published: ClassVar[tuple[str, ...]] = ("GF",)

    size: float = 1.0  # in standard deviations of the layer's weights

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                flat = weights.tensor.detach().reshape(-1).clone()
                picked = chosen(flat.numel(), share, generator).to(flat.device)
                flat[picked] += self.size * flat.std() * normal_like(flat, generator)[picked]
                weights.tensor.copy_(flat.reshape(weights.tensor.shape))
            yield
