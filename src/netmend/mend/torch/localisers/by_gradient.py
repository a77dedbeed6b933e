"""Where to change weights, by gradients: of failing inputs, against kept ones, their influence, what they would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import Group, Scores

# Gradients of the loss on failing or guard inputs, by parameter: what several localisers are made of.


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


# IRepair: the norm of the gradient of the bad answers' loss, unit by unit.
#
# Norms of layers of different depth and size cannot be compared fairly: meant for blocks that are built alike.


@dataclass(frozen=True)
class Sensitivity:
    observed: bool = True  # of the answers that were given, as IRepair; False: of those wanted
    name: str = "gradient sensitivity"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        squares = {
            name: one.square()
            for name, one in gradients(model, spec.task, spec.failing, self.observed).items()
        }
        return {group.name: group.summed(squares).sqrt() for group in groups}


# Contrast: how much more the failing inputs pull at a unit than the guard inputs do.


@dataclass(frozen=True)
class Contrast:
    """‖gradient of failing‖ / ‖gradient of guard‖: a ratio, so that size and depth of a layer cancel."""

    name: str = "failing against passing"
    floor: float = (
        1e-3  # of the largest norm of the guard: keeps units that hardly matter from looking guilty
    )

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        wrong = {name: one.square() for name, one in gradients(model, spec.task, spec.failing).items()}
        right = {name: one.square() for name, one in gradients(model, spec.task, spec.guard).items()}
        above = {group.name: group.summed(wrong).sqrt() for group in groups}
        below = {group.name: group.summed(right).sqrt() for group in groups}
        least = self.floor * max(float(one.max()) for one in below.values())
        return {name: above[name] / (below[name] + max(least, 1e-12)) for name in above}


# Influence (I-Repair): how much a weight carries of the failing inputs' loss, less what it carries of the guard's.


@dataclass(frozen=True)
class Influence:
    """|gradient · weight| on failing inputs minus the same on the guard, both as shares of their sums."""

    name: str = "influence"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        wrong, right = _shares(model, spec, spec.failing), _shares(model, spec, spec.guard)
        difference = {name: wrong[name] - right[name] for name in wrong}
        return {group.name: group.summed(difference) for group in groups}


def _shares(model: nn.Module, spec: Spec, data: Examples) -> dict[str, Tensor]:
    found = gradients(model, spec.task, data)
    carried = {name: (found[name] * one.detach()).abs() for name, one in mendable(model).items()}
    total = sum(float(one.sum()) for one in carried.values())
    return {name: one / max(total, 1e-30) for name, one in carried.items()}
