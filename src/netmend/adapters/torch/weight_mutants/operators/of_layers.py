"""W201 … W205 and W302: a layer is skipped, doubled or exchanged for a share of its features; a gate is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.kinds import NORMS
from netmend.adapters.torch.weight_mutants.mutant import (
    WeightMutant,
    answering,
    check_place,
    chosen,
    put_back,
)
from netmend.library.activations import ACTIVATIONS

# Layers that hand on what has the shape of what they were given: where one of them can be left out, doubled or exchanged.

_UNCALLED = (
    nn.modules.linear.NonDynamicallyQuantizableLinear
)  # attention takes its weights and never calls it
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
# Of those that normalise over units, and of gates, none can be exchanged for a part of the units.
_ACTIVATIONS = tuple(
    getattr(nn, each.layer) for each in ACTIVATIONS if not each.across and each.name != "glu"
)
_LAST = (nn.Linear, nn.LayerNorm, nn.TransformerEncoderLayer)  # features are the last axis


def named(model: nn.Module, *kinds: type[nn.Module]) -> list[str]:
    return [name for name, module in model.named_modules() if isinstance(module, kinds)]


def keeping_shape(model: nn.Module) -> list[str]:
    """Layers with weights whose output has the shape of their input, as their settings say."""
    return [name for name, module in model.named_modules() if _keeps_shape(module)]


def _keeps_shape(module: nn.Module) -> bool:
    if isinstance(module, nn.TransformerEncoderLayer):
        return True
    if isinstance(module, nn.Linear):
        return module.in_features == module.out_features and not isinstance(module, _UNCALLED)
    if not isinstance(module, _CONVOLUTIONS) or module.in_channels != module.out_channels:
        return False
    padding = module.padding
    if isinstance(padding, str):
        return padding == "same"
    sizes = zip(module.kernel_size, module.stride, padding, module.dilation, strict=True)
    return all(stride == 1 and 2 * pad == gap * (size - 1) for size, stride, pad, gap in sizes)


def in_part(
    module: nn.Module, share: float, generator: torch.Generator, other: Callable[[Tensor, Tensor], Tensor]
) -> Callable[[Tensor, Tensor], Tensor]:
    """What a layer gives, a share of its features taken from `other(given, output)`: the same ones in every batch."""
    order: list[Tensor] = []

    def answer(given: Tensor, output: Tensor) -> Tensor:
        wanted = other(given, output)
        if wanted.shape != output.shape or output.dim() < 1:
            return output
        axis = output.dim() - 1 if isinstance(module, _LAST) or output.dim() < 2 else 1
        if not order:
            order.append(chosen(output.shape[axis], share, generator))
        rows = order[0].to(output.device)
        return output.index_copy(axis, rows, wanted.index_select(axis, rows).to(output.dtype))

    return answer


@contextmanager
def activation_exchanged(
    module: nn.Module, share: float, generator: torch.Generator, other: Callable[[Tensor], Tensor]
) -> Iterator[None]:
    """Another function in the place of an activation layer, for a share of the features."""
    inplace = bool(getattr(module, "inplace", False))
    if inplace:  # it would have changed what it was given before that can be used
        module.inplace = False  # type: ignore[assignment]
    try:
        with answering(module, in_part(module, share, generator, lambda given, _: other(given))):
            yield
    finally:
        if inplace:
            module.inplace = True  # type: ignore[assignment]


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
        return named(model, *_ACTIVATIONS)

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
