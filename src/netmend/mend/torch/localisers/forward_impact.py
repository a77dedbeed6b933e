"""Arachne's two scores of single weights: how much the loss hangs on a weight, and how much it does in the forward pass.

Each is taken on failing inputs and on as many guard inputs: s_failing / (1 + s_guard). Their Pareto front is the slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.mend.torch.localisers.contributions import contributions, supported
from netmend.mend.torch.localisers.gradients import gradients
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.units import Group, Scores


@dataclass(frozen=True)
class GradientLoss:
    """|sum of gradients of the loss|."""

    name: str = "gradient loss"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        found = []
        for data in (spec.failing, alike(spec)):
            found.append(
                {name: one.abs() * len(data) for name, one in gradients(model, spec.task, data).items()}
            )
        return _weighed(found[0], found[1], groups)


@dataclass(frozen=True)
class ForwardImpact:
    """Share of a weight in what its neuron receives × share of the neuron in what its layer does to the output."""

    name: str = "forward impact"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        wrong, right = contributions(model, spec, spec.failing), contributions(model, spec, alike(spec))
        return _weighed(wrong, right, groups)


def weights_only(model: nn.Module, groups: Sequence[Group]) -> list[Group]:
    """Kernels of layers that contributions know; biases take no part, as with Arachne."""
    known = {
        f"{where}.{name}" if where else name
        for where, module in model.named_modules()
        if supported(module)
        for name, one in module.named_parameters(recurse=False)
        if one.dim() > 1
    }
    return [group for group in groups if known.issuperset(group.members)]


def alike(spec: Spec) -> Examples:
    """As many guard inputs as failing ones, classes in turn, always the same."""
    count = min(len(spec.failing), len(spec.guard))
    answers = spec.guard.wanted
    if not spec.task.classes:
        return spec.guard.taken(torch.linspace(0, len(spec.guard) - 1, count, device=answers.device).long())
    # The n-th of every class comes before the (n+1)-th of any.
    turn = torch.zeros_like(answers)
    for label in answers.unique():
        inside = answers == label
        turn[inside] = torch.arange(int(inside.sum()), device=answers.device)
    return spec.guard.taken(turn.sort(stable=True).indices[:count])


def _weighed(wrong: dict[str, Tensor], right: dict[str, Tensor], groups: Sequence[Group]) -> Scores:
    ratio = {name: one / (1 + right[name]) for name, one in wrong.items()}
    return {group.name: group.summed(ratio) for group in groups}
