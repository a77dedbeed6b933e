"""W103."""

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
class NeuronEffectBlocked:
    """Set the outgoing weights of some neurons of the previous layer to zero.

    The neurons go on answering, but nobody hears them.
    """

    code: ClassVar[str] = "W103"
    published: ClassVar[tuple[str, ...]] = ("NEB",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)[1:] if not each.is_embedding]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                columns = weights.columns
                columns[chosen(len(columns), share, generator)] = 0.0
            yield
