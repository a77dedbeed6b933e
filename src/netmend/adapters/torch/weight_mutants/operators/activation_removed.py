"""W204."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.layers import ACTIVATIONS, activation_exchanged, named
from netmend.adapters.torch.weight_mutants.mutant import check_place, register


@register
@dataclass(frozen=True)
class ActivationRemoved:
    """Skip an activation layer for some features, or all.

    Functions of torch that are called in forward() are not layers and cannot be reached.
    """

    code: ClassVar[str] = "W204"
    published: ClassVar[tuple[str, ...]] = ("AFRm",)

    def places(self, model: nn.Module) -> list[str]:
        return named(model, *ACTIVATIONS)

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        check_place(place, self.places(model))
        module = model.get_submodule(place)
        with activation_exchanged(module, share, generator, lambda given: given):
            yield
