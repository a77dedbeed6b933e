"""W104."""

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
class NeuronActivationInverted:
    """Negate what some neurons compute, before any nonlinearity.

    A rectified neuron speaks up exactly where it used to be silent.
    """

    code: ClassVar[str] = "W104"
    published: ClassVar[tuple[str, ...]] = ("NAI",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor, weights.bias):
            with torch.no_grad():
                picked = chosen(len(weights.rows), share, generator)
                weights.rows[picked] = -weights.rows[picked]
                if weights.bias is not None:
                    weights.bias[picked] = -weights.bias[picked]
            yield
