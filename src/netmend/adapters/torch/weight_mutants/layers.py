"""Layers that hand on what has the shape of what they were given: where one of them can be left out, doubled or exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from netmend.adapters.torch.weight_mutants.mutant import answering, chosen

_UNCALLED = (
    nn.modules.linear.NonDynamicallyQuantizableLinear
)  # attention takes its weights and never calls it
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMS = (
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
    nn.LayerNorm,
    nn.GroupNorm,
    nn.InstanceNorm1d,
    nn.InstanceNorm2d,
    nn.InstanceNorm3d,
)
ACTIVATIONS = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.PReLU,
    nn.ELU,
    nn.SELU,
    nn.CELU,
    nn.GELU,
    nn.SiLU,
    nn.Mish,
    nn.Tanh,
    nn.Sigmoid,
    nn.Softplus,
    nn.Softsign,
    nn.ReLU6,
    nn.Hardtanh,
    nn.Hardswish,
    nn.Hardsigmoid,
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
    module: nn.Module,
    share: float,
    generator: torch.Generator,
    other: Callable[[Tensor, Tensor], Tensor],
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
