"""W110."""

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
class WeightsQuantised:
    """Round a share of the weights of a layer to very few values.

    Fine differences between weights are lost, as with numbers of low precision.
    """

    code: ClassVar[str] = "W110"
    published: ClassVar[tuple[str, ...]] = ("weight quantisation", "weight precision reduction")

    levels: int = 4  # on either side of zero

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                flat = weights.tensor.detach().reshape(-1).clone()
                picked = chosen(flat.numel(), share, generator).to(flat.device)
                step = flat.abs().max() / self.levels
                if step > 0:
                    flat[picked] = (flat[picked] / step).round() * step
                weights.tensor.copy_(flat.reshape(weights.tensor.shape))
            yield
