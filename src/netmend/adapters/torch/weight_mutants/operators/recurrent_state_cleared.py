"""W301."""

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
class RecurrentStateCleared:
    """Let a recurrent layer forget a share of its state from step to step.

    Tests with short sequences hardly notice.
    """

    code: ClassVar[str] = "W301"
    published: ClassVar[tuple[str, ...]] = ("state clear",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model) if "weight_hh" in each.name.rpartition(".")[2]]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                columns = weights.columns
                columns[chosen(len(columns), share, generator)] = 0.0
            yield
