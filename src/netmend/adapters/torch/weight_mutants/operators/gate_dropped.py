"""W302."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from netmend.adapters.torch.weight_mutants.mutant import check_place, chosen, put_back, register

# In the order in which PyTorch stacks their weights.
_GATES = {nn.LSTM: ("input", "forget", "cell", "output"), nn.GRU: ("reset", "update", "new")}


@register
@dataclass(frozen=True)
class GateDropped:
    """Cut a gate of an LSTM or GRU off from all that it decides by, for a share of the units.

    It stands half open whatever comes in: units keep or forget without regard to the sequence.
    """

    code: ClassVar[str] = "W302"
    published: ClassVar[tuple[str, ...]] = ("gate dropout",)

    def places(self, model: nn.Module) -> list[str]:
        return [
            f"{path}:{gate}"
            for path, module in model.named_modules()
            for kind, gates in _GATES.items()
            if isinstance(module, kind)
            for gate in gates
        ]

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        check_place(place, self.places(model))
        path, _, gate = place.rpartition(":")
        module = model.get_submodule(path)
        assert isinstance(module, nn.LSTM | nn.GRU)
        number = _GATES[nn.LSTM if isinstance(module, nn.LSTM) else nn.GRU].index(gate)
        held = [tensor for name, tensor in module.named_parameters() if "_ih_" in name or "_hh_" in name]
        units = chosen(module.hidden_size, share, generator) + number * module.hidden_size
        with put_back(*held):
            with torch.no_grad():
                for tensor in held:
                    tensor[units] = 0.0
            yield
