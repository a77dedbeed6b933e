"""W107."""

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
class InputNeuronDeleted:
    """Make the first layer ignore some inputs; an embedding, some of its words.

    A test that never varies those inputs cannot notice.
    """

    code: ClassVar[str] = "W107"
    published: ClassVar[tuple[str, ...]] = ("DIN",)

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)[:1]]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor):
            with torch.no_grad():
                # An embedding is asked for rows; other layers multiply columns by the inputs.
                ways = weights.rows if weights.is_embedding else weights.columns
                ways[chosen(len(ways), share, generator)] = 0.0
            yield
