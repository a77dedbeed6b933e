"""W203."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.layers import NORMS, in_part, named
from netmend.adapters.torch.weight_mutants.mutant import answering, check_place, register


@register
@dataclass(frozen=True)
class NormRemoved:
    """Skip a norm layer for some features, or all.

    What the next layer gets has another size than it was trained with.
    """

    code: ClassVar[str] = "W203"
    published: ClassVar[tuple[str, ...]] = ("LR",)

    def places(self, model: nn.Module) -> list[str]:
        return named(model, *NORMS)

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        check_place(place, self.places(model))
        module = model.get_submodule(place)
        with answering(module, in_part(module, share, generator, lambda given, _: given)):
            yield
