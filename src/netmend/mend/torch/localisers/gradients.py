"""Gradients of the loss on failing or guard inputs, by parameter: what several localisers are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from netmend.mend.torch.spec import Examples
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.undisturbed import mendable


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
