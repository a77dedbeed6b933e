"""Units of a model that can be blamed and changed: single weights, neurons, channels, layers, blocks; and slices of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.kinds import NORMS
from netmend.errors import UsageError
from netmend.mend.torch.undisturbed import mendable

WEIGHT, NEURON, LAYER = KINDS = ("weight", "neuron", "layer")
_CONVOLUTIONS = nn.modules.conv._ConvNd
_TRANSPOSED = nn.modules.conv._ConvTransposeNd

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


def units(model: nn.Module, kind: str, biases: bool = True) -> tuple[Group, ...]:
    """All units of a kind."""
    if kind not in KINDS:
        raise UsageError(f"there are no units called {kind!r}; choose one of {', '.join(KINDS)}")
    parameters = {name: one for name, one in mendable(model).items() if biases or one.dim() > 1}
    if kind == WEIGHT:
        found = [Group(name, tuple(one.shape), {name: one.shape}) for name, one in parameters.items()]
    else:
        found = _neurons(model, parameters) if kind == NEURON else _layers(parameters)
    if not found:
        raise UsageError(f"the {type(model).__name__} has no units of the kind {kind}")
    return tuple(found)


def whole(model: nn.Module) -> Mask:
    """Everything may change."""
    return {name: torch.ones((), dtype=torch.bool).expand(one.shape) for name, one in mendable(model).items()}


def share(mask: Mask, model: nn.Module) -> float:
    """The part of all mendable elements that a mask lets change."""
    total = sum(one.numel() for one in mendable(model).values())
    return sum(int(one.sum()) for one in mask.values()) / max(total, 1)


def _layers(parameters: Mapping[str, nn.Parameter]) -> list[Group]:
    together: dict[str, dict[str, torch.Size]] = {}
    for name, one in parameters.items():
        together.setdefault(name.rpartition(".")[0], {})[name] = one.shape
    return [Group(name, (), members) for name, members in together.items()]


def _neurons(model: nn.Module, parameters: Mapping[str, nn.Parameter]) -> list[Group]:
    found = []
    for where, module in model.named_modules():
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
    if isinstance(module, nn.LayerNorm):
        return (module.normalized_shape[0], 0) if len(module.normalized_shape) == 1 else (0, 0)
    if isinstance(module, NORMS):
        return int(getattr(module, "num_features", 0) or getattr(module, "num_channels", 0)), 0
    if isinstance(module, nn.RNNBase) and not getattr(module, "proj_size", 0):
        return module.hidden_size, 0  # the gates of a unit, of all layers and directions, belong together
    return 0, 0


def _owner(one: nn.Parameter, width: int, axis: int) -> Tensor:
    axis = axis if one.dim() > 1 else 0
    rows = torch.arange(one.shape[axis], device=one.device) % width
    return rows.reshape([-1 if place == axis else 1 for place in range(one.dim())])


# From scores to a slice: which units may change.


def argmax(scores: Scores, groups: Iterable[Group]) -> Mask:
    """The one unit with the largest score (IRepair)."""
    return top_count(scores, groups, 1)


def top_count(scores: Scores, groups: Iterable[Group], count: int) -> Mask:
    """As many units as said, the largest scores first."""
    if count < 1:
        raise UsageError(f"a slice of {count} units was asked for; it needs at least one")
    values = _together(scores)
    kept = values.sort(descending=True, stable=True).indices[:count]
    return chosen_mask(_apart(_marked(values, kept), scores), groups)


def top_share(scores: Scores, groups: Iterable[Group], share: float) -> Mask:
    """Units with the largest scores, until they hold that part of all elements; at least one unit."""
    if not 0.0 < share <= 1.0:
        raise UsageError(f"the share of a slice must lie above 0 and not above 1; {share} was given")
    groups = tuple(groups)
    sizes = {one.name: _sizes(one) for one in groups}
    values, elements = _together(scores), torch.cat([sizes[name].reshape(-1) for name in scores])
    order = values.sort(descending=True, stable=True).indices
    running = elements[order.to(elements.device)].cumsum(0)
    fitting = int((running <= share * float(elements.sum()) + 1e-6).sum())
    return chosen_mask(_apart(_marked(values, order[: max(1, fitting)]), scores), groups)


def pareto(first: Scores, second: Scores, groups: Iterable[Group]) -> Mask:
    """Units that no other unit beats in both scores (Arachne)."""
    one, other = _together(first), _together(second).to(_together(first))
    return chosen_mask(_apart(_marked(one, _front(one, other)), first), groups)


def chosen_mask(chosen: Mapping[str, Tensor], groups: Iterable[Group]) -> Mask:
    """The elements of all chosen units; parameters in which nothing was chosen are left out."""
    mask: Mask = {}
    for group in groups:
        for name, one in group.mask(chosen[group.name]).items():
            mask[name] = mask[name] | one if name in mask else one
    return {name: one for name, one in mask.items() if bool(one.any())}


def _front(one: Tensor, other: Tensor) -> Tensor:
    """Places of the points that are not dominated: sorted by the first score, those whose second is a new maximum."""
    rough = other.sort(descending=True, stable=True).indices
    order = rough[one[rough].sort(descending=True, stable=True).indices]
    sorted_other = other[order]
    before = torch.cat([sorted_other.new_full((1,), -torch.inf), sorted_other.cummax(0).values[:-1]])
    return order[sorted_other > before]


def _together(scores: Scores) -> Tensor:
    values = torch.cat([one.detach().reshape(-1).float() for one in scores.values()])
    # A unit without a usable score is never the most suspicious one.
    return torch.where(values.isnan(), values.new_full((), -torch.inf), values)


def _marked(values: Tensor, kept: Tensor) -> Tensor:
    marks = torch.zeros(len(values), dtype=torch.bool, device=values.device)
    marks[kept] = True
    return marks


def _apart(flat: Tensor, scores: Scores) -> dict[str, Tensor]:
    found, start = {}, 0
    for name, one in scores.items():
        found[name] = flat[start : start + one.numel()].reshape(one.shape)
        start += one.numel()
    return found


def _sizes(group: Group) -> Tensor:
    device = next((one.device for one in group.owners.values()), None)
    ones = {name: torch.ones(shape, device=device) for name, shape in group.members.items()}
    return group.summed(ones).cpu()
