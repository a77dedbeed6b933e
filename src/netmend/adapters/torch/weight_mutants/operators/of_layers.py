"""W201 … W205 and W302: a layer is skipped, doubled or exchanged for a share of its features; a gate is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn

from netmend.adapters.torch.weight_mutants.layers import (
    ACTIVATIONS,
    NORMS,
    activation_exchanged,
    in_part,
    keeping_shape,
    named,
)
from netmend.adapters.torch.weight_mutants.mutant import (
    WeightMutant,
    answering,
    check_place,
    chosen,
    put_back,
)

# In the order in which PyTorch stacks their weights.
_GATES = {nn.LSTM: ("input", "forget", "cell", "output"), nn.GRU: ("reset", "update", "new")}


class _OfLayers(WeightMutant):
    """A layer gives something else for some features, or all: `other(layer, what it was given, what it would have given)`."""

    def places(self, model: nn.Module) -> list[str]:
        return keeping_shape(model)

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        check_place(place, self.places(model))
        with self.exchanged(model.get_submodule(place), share, generator):
            yield

    def exchanged(
        self, module: nn.Module, share: float, generator: torch.Generator
    ) -> AbstractContextManager[None]:
        return answering(module, in_part(module, share, generator, lambda *both: self.other(module, *both)))

    def other(self, module: nn.Module, features: Tensor, output: Tensor) -> Tensor:
        return features


class _OfActivations(_OfLayers):
    def places(self, model: nn.Module) -> list[str]:
        return named(model, *ACTIVATIONS)

    def exchanged(
        self, module: nn.Module, share: float, generator: torch.Generator
    ) -> AbstractContextManager[None]:
        return activation_exchanged(
            module, share, generator, lambda features: self.other(module, features, features)
        )


class LayerDeactivated(_OfLayers, code="W201", published=("LD",)):
    """Skip a layer for some features, or all, if its output is as wide as its input.

    The work of the layer is missing.
    """


class LayerDoubled(_OfLayers, code="W202", published=("LAm",)):
    """Apply a layer twice to some features, or all, if its output is as wide as its input.

    What the next layers get is no longer what they were trained with.
    """

    def other(self, module: nn.Module, features: Tensor, output: Tensor) -> Tensor:
        twice: Tensor = module.forward(output)
        return twice


class NormRemoved(_OfLayers, code="W203", published=("LR",)):
    """Skip a norm layer for some features, or all.

    What the next layer gets has another size than it was trained with.
    """

    def places(self, model: nn.Module) -> list[str]:
        return named(model, *NORMS)


class ActivationRemoved(_OfActivations, code="W204", published=("AFRm",)):
    """Skip an activation layer for some features, or all.

    Functions of torch that are called in forward() are not layers and cannot be reached.
    """


class ActivationExchanged(_OfActivations, code="W205", published=("CAF",)):
    """Put a sigmoid in the place of an activation layer, for some features or all; of a sigmoid, a rectifier.

    Functions of torch that are called in forward() are not layers and cannot be reached.
    """

    def other(self, module: nn.Module, features: Tensor, output: Tensor) -> Tensor:
        is_sigmoid = isinstance(module, nn.Sigmoid | nn.Hardsigmoid)
        return torch.relu(features) if is_sigmoid else torch.sigmoid(features)


class GateDropped(WeightMutant, code="W302", published=("gate dropout",)):
    """Cut a gate of an LSTM or GRU off from all that it decides by, for a share of the units.

    It stands half open whatever comes in: units keep or forget without regard to the sequence.
    """

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
