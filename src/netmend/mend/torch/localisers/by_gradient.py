"""Where to change weights, by gradients: of failing inputs, against kept ones, their influence, what they would change."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from netmend.mend.torch.spec import Examples, Spec, Task
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import Group, Scores

_FLOOR = 1e-3  # of the largest norm of the guard: keeps units that hardly matter from looking guilty


def gradients(model: nn.Module, task: Task, data: Examples, observed: bool = False) -> dict[str, Tensor]:
    """Of the mean loss for what is wanted, or for what the model answered at first; zeros where nothing arrives."""
    parameters = mendable(model)
    total = {name: torch.zeros_like(one) for name, one in parameters.items()}
    for part in data.parts():
        target = task.answers(part.reference) if observed and task.classes else part.wanted
        loss = task.losses(task.scores(model(*part.inputs)), target).sum() / len(data)
        found = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        for (name, _), gradient in zip(parameters.items(), found, strict=True):
            if gradient is not None:
                total[name] += gradient
    return total


def sensitivity(model: nn.Module, spec: Spec, groups: Sequence[Group], observed: bool = True) -> Scores:
    """IRepair: the norm of the gradient of the bad answers' loss, unit by unit.

    `observed`: of the answers that were given, as IRepair; else of those wanted. Norms of layers of different depth and size cannot be
    compared fairly: meant for blocks that are built alike.
    """
    return _norms(gradients(model, spec.task, spec.failing, observed), groups)


def contrast(model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
    """‖gradient of failing‖ / ‖gradient of guard‖: a ratio, so that size and depth of a layer cancel."""
    above = _norms(gradients(model, spec.task, spec.failing), groups)
    below = _norms(gradients(model, spec.task, spec.guard), groups)
    least = _FLOOR * max(float(one.max()) for one in below.values())
    return {name: above[name] / (below[name] + max(least, 1e-12)) for name in above}


def _norms(found: dict[str, Tensor], groups: Sequence[Group]) -> Scores:
    squares = {name: one.square() for name, one in found.items()}
    return {group.name: group.summed(squares).sqrt() for group in groups}


def influence(model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
    """I-Repair: |gradient · weight| on failing inputs minus the same on the guard, both as shares of their sums."""
    wrong, right = _shares(model, spec, spec.failing), _shares(model, spec, spec.guard)
    difference = {name: wrong[name] - right[name] for name in wrong}
    return {group.name: group.summed(difference) for group in groups}


def _shares(model: nn.Module, spec: Spec, data: Examples) -> dict[str, Tensor]:
    found = gradients(model, spec.task, data)
    carried = {name: (found[name] * one.detach()).abs() for name, one in mendable(model).items()}
    total = sum(float(one.sum()) for one in carried.values())
    return {name: one / max(total, 1e-30) for name, one in carried.items()}
