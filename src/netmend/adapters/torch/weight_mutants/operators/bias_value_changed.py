"""W111."""

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
class BiasValueChanged:
    """Move the biases of some neurons, up or down, by as much as their inputs usually do.

    They answer too early or too late.
    """

    code: ClassVar[str] = "W111"
    published: ClassVar[tuple[str, ...]] = ("CBV",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model) if each.bias is not None]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        assert weights.bias is not None
        with put_back(weights.bias):
            with torch.no_grad():
                picked = chosen(len(weights.bias), share, generator)
                signs = torch.randint(0, 2, picked.shape, generator=generator) * 2 - 1
                sizes = weights.rows.detach().flatten(1).norm(dim=1)[picked]
                weights.bias[picked] += signs.to(sizes.device, sizes.dtype) * sizes
            yield
