"""W201."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.layers import in_part, keeping_shape
from netmend.adapters.torch.weight_mutants.mutant import answering, check_place, register


@register
@dataclass(frozen=True)
class LayerDeactivated:
    """Skip a layer for some features, or all, if its output is as wide as its input.

    The work of the layer is missing.
    """

    code: ClassVar[str] = "W201"
    published: ClassVar[tuple[str, ...]] = ("LD",)

    def places(self, model: nn.Module) -> list[str]:
        return keeping_shape(model)

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        check_place(place, self.places(model))
        module = model.get_submodule(place)
        with answering(module, in_part(module, share, generator, lambda given, _: given)):
            yield
