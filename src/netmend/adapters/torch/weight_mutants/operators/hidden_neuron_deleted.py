"""W106."""

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
class HiddenNeuronDeleted:
    """Set the incoming weights and the bias of some neurons to zero.

    They give the same answer to every input.
    """

    code: ClassVar[str] = "W106"
    published: ClassVar[tuple[str, ...]] = ("DHN", "neuron inhibitor")

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor, weights.bias):
            with torch.no_grad():
                picked = chosen(len(weights.rows), share, generator)
                weights.rows[picked] = 0.0
                if weights.bias is not None:
                    weights.bias[picked] = 0.0
            yield
