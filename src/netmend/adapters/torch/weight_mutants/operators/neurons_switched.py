"""W105."""

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
class NeuronsSwitched:
    """Swap some neurons of a layer with each other.

    The next layer takes each of them for another one.
    """

    code: ClassVar[str] = "W105"
    published: ClassVar[tuple[str, ...]] = ("NS",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model) if len(each.rows) > 1]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor, weights.bias):
            with torch.no_grad():
                picked = chosen(len(weights.rows), share, generator)
                if len(picked) < 2:  # one alone has nobody to change places with
                    picked = torch.stack([picked[0], (picked[0] + 1) % len(weights.rows)])
                moved = picked.roll(1)
                weights.rows[picked] = weights.rows[moved].clone()
                if weights.bias is not None:
                    weights.bias[picked] = weights.bias[moved].clone()
            yield
