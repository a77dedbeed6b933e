"""W101 … W111 and W301: weights, neurons or biases of a layer are changed for the length of a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.adapters.torch.weight_mutants.mutant import WeightMutant, check_place, chosen, put_back

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


class _OfWeights(WeightMutant):
    """Of the weights of a layer a share is changed, and put back bit for bit."""

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model) if self.fits(each)]

    def fits(self, weights: Weights) -> bool:
        return True

    @contextmanager
    def apply(self, model: nn.Module, place: str, share: float, generator: torch.Generator) -> Iterator[None]:
        weights = weights_at(model, place, self.places(model))
        with put_back(weights.tensor, weights.bias):
            with torch.no_grad():
                self.change(weights, share, generator)
            yield

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        raise NotImplementedError


def _multiply_some(tensor: Tensor, factor: float, share: float, generator: torch.Generator) -> None:
    factors = torch.ones(tensor.numel(), dtype=tensor.dtype)
    factors[chosen(factors.numel(), share, generator)] = factor
    tensor.mul_(factors.reshape(tensor.shape).to(tensor.device))


def _multiply_neurons(weights: Weights, factor: float, share: float, generator: torch.Generator) -> None:
    """What leads to some neurons, and their biases."""
    picked = chosen(len(weights.rows), share, generator)
    for rows in (weights.rows, weights.bias):
        if rows is not None:
            rows[picked] = factor * rows[picked] if factor else 0.0


def _silence(ways: Tensor, share: float, generator: torch.Generator) -> None:
    ways[chosen(len(ways), share, generator)] = 0.0


class GaussianFuzzing(_OfWeights, code="W101", published=("GF",)):
    """Add normally distributed noise to a share of a layer's weights.

    The noise is as large as the weights themselves differ: what depends on exact values is lost.
    """

    size: float = 1.0  # in standard deviations of the layer's weights

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        flat = weights.tensor.detach().reshape(-1).clone()
        picked = chosen(flat.numel(), share, generator).to(flat.device)
        flat[picked] += self.size * flat.std() * normal_like(flat, generator)[picked]
        weights.tensor.copy_(flat.reshape(weights.tensor.shape))


class WeightsShuffled(_OfWeights, code="W102", published=("WS",)):
    """Shuffle the incoming weights of some neurons.

    They keep their values, but each one now weighs another input.
    """

    def fits(self, weights: Weights) -> bool:
        return not weights.is_embedding

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        rows = weights.rows
        for row in chosen(len(rows), share, generator).tolist():
            mixed = torch.randperm(rows[row].numel(), generator=generator).to(rows.device)
            rows[row] = rows[row].reshape(-1)[mixed].reshape(rows[row].shape)


class NeuronEffectBlocked(_OfWeights, code="W103", published=("NEB",)):
    """Set the outgoing weights of some neurons of the previous layer to zero.

    The neurons go on answering, but nobody hears them.
    """

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)[1:] if not each.is_embedding]

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _silence(weights.columns, share, generator)


class NeuronActivationInverted(_OfWeights, code="W104", published=("NAI",)):
    """Negate what some neurons compute, before any nonlinearity.

    A rectified neuron speaks up exactly where it used to be silent.
    """

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _multiply_neurons(weights, -1.0, share, generator)


class NeuronsSwitched(_OfWeights, code="W105", published=("NS",)):
    """Swap some neurons of a layer with each other.

    The next layer takes each of them for another one.
    """

    def fits(self, weights: Weights) -> bool:
        return len(weights.rows) > 1

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        picked = chosen(len(weights.rows), share, generator)
        if len(picked) < 2:  # one alone has nobody to change places with
            picked = torch.stack([picked[0], (picked[0] + 1) % len(weights.rows)])
        moved = picked.roll(1)
        for rows in (weights.rows, weights.bias):
            if rows is not None:
                rows[picked] = rows[moved].clone()


class HiddenNeuronDeleted(_OfWeights, code="W106", published=("DHN", "neuron inhibitor")):
    """Set the incoming weights and the bias of some neurons to zero.

    They give the same answer to every input.
    """

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _multiply_neurons(weights, 0.0, share, generator)


class InputNeuronDeleted(_OfWeights, code="W107", published=("DIN",)):
    """Make the first layer ignore some inputs; an embedding, some of its words.

    A test that never varies those inputs cannot notice.
    """

    def places(self, model: nn.Module) -> list[str]:
        return [each.name for each in weights_of(model)[:1]]

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        # An embedding is asked for rows; other layers multiply columns by the inputs.
        _silence(weights.rows if weights.is_embedding else weights.columns, share, generator)


class WeightInhibited(_OfWeights, code="W108", published=("weight inhibitor",)):
    """Set single weights of a layer to zero.

    Each neuron loses a few of the ways that lead to it, none loses all.
    """

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _multiply_some(weights.tensor, 0.0, share, generator)


class WeightValueChanged(_OfWeights, code="W109", published=("CWV",)):
    """Negate single weights of a layer.

    What spoke for an answer speaks against it.
    """

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _multiply_some(weights.tensor, -1.0, share, generator)


class WeightsQuantised(
    _OfWeights, code="W110", published=("weight quantisation", "weight precision reduction")
):
    """Round a share of the weights of a layer to very few values.

    Fine differences between weights are lost, as with numbers of low precision.
    """

    levels: int = 4  # on either side of zero

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        flat = weights.tensor.detach().reshape(-1).clone()
        picked = chosen(flat.numel(), share, generator).to(flat.device)
        step = flat.abs().max() / self.levels
        if step > 0:
            flat[picked] = (flat[picked] / step).round() * step
        weights.tensor.copy_(flat.reshape(weights.tensor.shape))


class BiasValueChanged(_OfWeights, code="W111", published=("CBV",)):
    """Move the biases of some neurons, up or down, by as much as their inputs usually do.

    They answer too early or too late.
    """

    def fits(self, weights: Weights) -> bool:
        return weights.bias is not None

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        assert weights.bias is not None
        picked = chosen(len(weights.bias), share, generator)
        signs = torch.randint(0, 2, picked.shape, generator=generator) * 2 - 1
        sizes = weights.rows.detach().flatten(1).norm(dim=1)[picked]
        weights.bias[picked] += signs.to(sizes.device, sizes.dtype) * sizes


class RecurrentStateCleared(_OfWeights, code="W301", published=("state clear",)):
    """Let a recurrent layer forget a share of its state from step to step.

    Tests with short sequences hardly notice.
    """

    def fits(self, weights: Weights) -> bool:
        return "weight_hh" in weights.name.rpartition(".")[2]

    def change(self, weights: Weights, share: float, generator: torch.Generator) -> None:
        _silence(weights.columns, share, generator)
