"""A user's model while it is looked at or mended: in evaluation mode, and afterwards as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def undisturbed(model: nn.Module) -> Iterator[None]:
    """Dropout off, batch norm with its kept statistics; modes, gradients and what may be trained are put back at the end."""
    modes = {module: module.training for module in model.modules()}
    kept = {parameter: (parameter.requires_grad, parameter.grad) for parameter in model.parameters()}
    model.eval()
    try:
        with torch.enable_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        for parameter, (trained, gradient) in kept.items():
            parameter.requires_grad_(trained)
            parameter.grad = gradient


def mendable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Parameters that mending may change: floating-point ones, shared ones once; frozen ones too, since nobody trains now."""
    return {name: one for name, one in model.named_parameters() if one.is_floating_point()}


def copied(model: nn.Module) -> dict[str, Tensor]:
    """The values of all mendable parameters now."""
    return {name: one.detach().clone() for name, one in mendable(model).items()}


@torch.no_grad()
def put_back(model: nn.Module, values: dict[str, Tensor]) -> None:
    """Values that were copied, bit for bit."""
    for name, one in mendable(model).items():
        one.copy_(values[name])


def between(old: dict[str, Tensor], new: dict[str, Tensor], part: float) -> dict[str, Tensor]:
    """A point on the way from old to new values; weights that did not move stay exactly as they are."""
    return {
        name: torch.where(new[name] == one, one, one + part * (new[name] - one)) for name, one in old.items()
    }
