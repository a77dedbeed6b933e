"""W102."""

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
class WeightsShuffled:
    """Shuffle the incoming weights of some neurons.

    They keep their values, but each one now weighs another input.
    """

    code: ClassVar[str] = "W102"
    published: ClassVar[tuple[str, ...]] = ("WS",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model) if not each.is_embedding]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                rows = weights.rows
                for row in chosen(len(rows), share, generator).tolist():
                    mixed = torch.randperm(rows[row].numel(), generator=generator).to(rows.device)
                    rows[row] = rows[row].reshape(-1)[mixed].reshape(rows[row].shape)
            yield
