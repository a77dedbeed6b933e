"""The weights of a model: every matrix of linear layers, convolutions, embeddings, recurrent layers, attention; its neurons, its bias."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.adapters.torch.weight_mutants.mutant import check_place

_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


@dataclass(frozen=True, eq=False)
class Weights:
    """One matrix of weights. A row is what leads to one neuron, a column what leads away from one of the layer before."""

    name: str  # of the parameter: "encoder.lstm.weight_ih_l0"
    tensor: nn.Parameter
    bias: nn.Parameter | None  # one number for each row
    module: nn.Module

    @property
    def rows(self) -> Tensor:
        """A view whose first axis counts the neurons."""
        return self.tensor.transpose(0, 1) if isinstance(self.module, _TRANSPOSED) else self.tensor

    @property
    def columns(self) -> Tensor:
        """A view whose first axis counts what the layer is given."""
        return self.rows.transpose(0, 1)

    @property
    def is_embedding(self) -> bool:
        return isinstance(self.module, nn.Embedding | nn.EmbeddingBag)


def weights_of(model: nn.Module) -> list[Weights]:
    """All of a model, each once, in the order of its modules."""
    found: list[Weights] = []
    seen: set[int] = set()
    for path, module in model.named_modules():
        for name, tensor in module.named_parameters(prefix=path, recurse=False):
            usable = tensor.dim() >= 2 and tensor.numel() > 1 and tensor.is_floating_point()
            if usable and id(tensor) not in seen:
                seen.add(id(tensor))
                found.append(Weights(name, tensor, _bias(module, name, tensor), module))
    return found


def weights_at(model: nn.Module, place: str, known: list[str]) -> Weights:
    check_place(place, known)
    return next(each for each in weights_of(model) if each.name == place)


def _bias(module: nn.Module, name: str, tensor: nn.Parameter) -> nn.Parameter | None:
    """`bias` of `weight`, `in_proj_bias` of `in_proj_weight`, `bias_ih_l0` of `weight_ih_l0`."""
    other = getattr(module, name.rpartition(".")[2].replace("weight", "bias"), None)
    count = tensor.shape[1] if isinstance(module, _TRANSPOSED) else tensor.shape[0]
    fits = isinstance(other, nn.Parameter) and other is not tensor and other.shape == (count,)
    return other if fits and isinstance(other, nn.Parameter) else None


def normal_like(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Normally distributed numbers, drawn on the CPU so that they are the same on every device."""
    drawn = torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
    return drawn.to(tensor.device, tensor.dtype)
