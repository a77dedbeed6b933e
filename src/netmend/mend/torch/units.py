"""Units of a model that can be blamed and changed: single weights, neurons, channels, layers, blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.torch.undisturbed import mendable

WEIGHT, NEURON, CHANNEL, LAYER, BLOCK = KINDS = ("weight", "neuron", "channel", "layer", "block")
BLOCKS = r"^(.*?\.\d+|\d+)(?=\.)"  # transformer blocks and the members of a Sequential alike
_CONVOLUTIONS = nn.modules.conv._ConvNd
_TRANSPOSED = nn.modules.conv._ConvTransposeNd
_NORMS = (nn.modules.batchnorm._BatchNorm, nn.GroupNorm, nn.modules.instancenorm._InstanceNorm)

Mask = dict[str, Tensor]  # parameter → which of its elements may change
Scores = dict[str, Tensor]  # group → one number per unit of it


@dataclass(frozen=True, eq=False)
class Group:
    """The units of one layer, parameter or block: how many there are, and which elements belong to which."""

    name: str
    shape: tuple[int, ...]  # of the units: of all elements, (neurons,), or () for the whole
    members: Mapping[str, torch.Size]  # parameters and their shapes
    owners: Mapping[str, Tensor] = field(default_factory=dict)  # of neurons: each element's, broadcastable

    def mask(self, chosen: Tensor) -> Mask:
        """The elements that belong to the chosen units."""
        if self.shape == () or not self.owners:
            return {name: chosen.expand(shape) for name, shape in self.members.items()}
        return {name: chosen[self.owners[name]].expand(shape) for name, shape in self.members.items()}

    def summed(self, elements: Mapping[str, Tensor]) -> Tensor:
        """One number per unit: the sum over its elements. A parameter without a value counts as zeros."""
        some = next(iter(elements.values()))
        if self.owners:
            total = some.new_zeros(self.shape)
            for name, owners in self.owners.items():
                if name in elements:
                    total.index_add_(
                        0, owners.expand(self.members[name]).reshape(-1), elements[name].reshape(-1)
                    )
            return total
        if self.shape == ():
            return sum(
                (elements[name].sum() for name in self.members if name in elements), some.new_zeros(())
            )
        (only,) = self.members
        return elements.get(only, some.new_zeros(self.shape))

    @property
    def count(self) -> int:
        return int(torch.Size(self.shape).numel())


def units(model: nn.Module, kind: str, blocks: str | None = None, biases: bool = True) -> tuple[Group, ...]:
    """All units of a kind; `blocks` is a regular expression whose first group names the block of a parameter."""
    if kind not in KINDS:
        raise UsageError(f"there are no units called {kind!r}; choose one of {', '.join(KINDS)}")
    parameters = {name: one for name, one in mendable(model).items() if biases or one.dim() > 1}
    if kind == WEIGHT:
        found = [Group(name, tuple(one.shape), {name: one.shape}) for name, one in parameters.items()]
    elif kind in (NEURON, CHANNEL):
        found = _neurons(model, parameters, only_convolutions=kind == CHANNEL)
    else:
        found = _gathered(parameters, blocks if kind == BLOCK else None, kind)
    if not found:
        advice = "; give the names of blocks as a regular expression" if kind == BLOCK else ""
        raise UsageError(f"the {type(model).__name__} has no units of the kind {kind}{advice}")
    return tuple(found)


def whole(model: nn.Module) -> Mask:
    """Everything may change."""
    return {name: torch.ones((), dtype=torch.bool).expand(one.shape) for name, one in mendable(model).items()}


def share(mask: Mask, model: nn.Module) -> float:
    """The part of all mendable elements that a mask lets change."""
    total = sum(one.numel() for one in mendable(model).values())
    return sum(int(one.sum()) for one in mask.values()) / max(total, 1)


def _gathered(parameters: Mapping[str, nn.Parameter], blocks: str | None, kind: str) -> list[Group]:
    """By the layer's name, or by what the expression finds; embeddings, norms and heads outside blocks take no part."""
    together: dict[str, dict[str, torch.Size]] = {}
    pattern = re.compile(blocks or BLOCKS)
    for name, one in parameters.items():
        if kind == LAYER:
            where = name.rpartition(".")[0]
        else:
            match = pattern.search(name)
            if match is None:
                continue
            where = match.group(1) if pattern.groups else match.group(0)
        together.setdefault(where, {})[name] = one.shape
    return [Group(name, (), members) for name, members in together.items()]


def _neurons(
    model: nn.Module, parameters: Mapping[str, nn.Parameter], only_convolutions: bool
) -> list[Group]:
    found = []
    for where, module in model.named_modules():
        if only_convolutions and not isinstance(module, _CONVOLUTIONS):
            continue
        width, axis = _width(module)
        prefix = f"{where}." if where else ""
        own = {f"{prefix}{name}" for name, _ in module.named_parameters(recurse=False)}
        members = {name: one for name, one in parameters.items() if name in own}
        if not width or not members:
            continue
        owners = {name: _owner(one, width, axis) for name, one in members.items()}
        found.append(Group(where, (width,), {name: one.shape for name, one in members.items()}, owners))
    return found


def _width(module: nn.Module) -> tuple[int, int]:
    """Neurons of a layer, and along which axis of its weight they lie; none where that is not plain."""
    if isinstance(module, nn.Linear):
        return module.out_features, 0
    if isinstance(module, _CONVOLUTIONS):
        transposed = isinstance(module, _TRANSPOSED)
        if transposed and module.groups > 1:
            return 0, 0  # outputs of a group are not one axis
        return module.out_channels, 1 if transposed else 0
    if isinstance(module, _NORMS):
        return int(getattr(module, "num_features", 0) or getattr(module, "num_channels", 0)), 0
    if isinstance(module, nn.LayerNorm) and len(module.normalized_shape) == 1:
        return module.normalized_shape[0], 0
    if isinstance(module, nn.RNNBase) and not getattr(module, "proj_size", 0):
        return module.hidden_size, 0  # the gates of a unit, of all layers and directions, belong together
    return 0, 0


def _owner(one: nn.Parameter, width: int, axis: int) -> Tensor:
    axis = axis if one.dim() > 1 else 0
    rows = torch.arange(one.shape[axis], device=one.device) % width
    return rows.reshape([-1 if place == axis else 1 for place in range(one.dim())])
