"""W109."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.mutant import chosen, put_back, register
from netmend.adapters.torch.weight_mutants.weights import weights_at, weights_of


@register
@dataclass(frozen=True)
class WeightValueChanged:
    """Negate single weights of a layer.

    What spoke for an answer speaks against it.
    """

    code: ClassVar[str] = "W109"
    published: ClassVar[tuple[str, ...]] = ("CWV",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                signs = torch.ones(weights.tensor.numel(), dtype=weights.tensor.dtype)
                signs[chosen(signs.numel(), share, generator)] = -1.0
                weights.tensor.mul_(signs.reshape(weights.tensor.shape).to(weights.tensor.device))
            yield
