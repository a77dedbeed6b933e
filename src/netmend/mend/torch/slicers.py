"""From scores to a slice: which units may change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from netmend.errors import UsageError
from netmend.mend.torch.units import Group, Mask, Scores


def argmax(scores: Scores, groups: Iterable[Group]) -> Mask:
    """The one unit with the largest score (IRepair)."""
    return top_count(scores, groups, 1)


def argmin(scores: Scores, groups: Iterable[Group]) -> Mask:
    """The one with the smallest: the control that a localiser has to beat."""
    return top_count({name: -one for name, one in scores.items()}, groups, 1)


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


def pareto(first: Scores, second: Scores, groups: Iterable[Group], most: int | None = None) -> Mask:
    """Units that no other unit beats in both scores (Arachne); further fronts are added up to `most` units where given."""
    one, other = _together(first), _together(second).to(_together(first))
    front: list[Tensor] = []
    left = torch.arange(len(one), device=one.device)
    while len(left):
        best = _front(one[left], other[left])
        if most is not None and sum(len(part) for part in front) + len(best) > most and front:
            break
        front.append(left[best][:most])
        if most is None:
            break
        keep = torch.ones(len(left), dtype=torch.bool, device=left.device)
        keep[best] = False
        left = left[keep]
    return chosen_mask(_apart(_marked(one, torch.cat(front)), first), groups)


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
    ones = {name: torch.ones(shape) for name, shape in group.members.items()}
    return group.summed({name: one.to(_device(group)) for name, one in ones.items()}).cpu()


def _device(group: Group) -> torch.device:
    return next((one.device for one in group.owners.values()), torch.device("cpu"))
