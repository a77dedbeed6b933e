"""Many candidate values of one slice, judged at once: functional calls under vmap, what lies before the slice computed once."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from netmend.mend.torch.spec import Examples
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import Mask

_MOST_NUMBERS = 20_000_000  # weights and outputs of the candidates that are judged together


class Population:
    """The chosen elements of a model as one vector, and the scores of many such vectors."""

    def __init__(self, model: nn.Module, task: Task, mask: Mask, data: Examples) -> None:
        parameters = mendable(model)
        self.names = [name for name in parameters if name in mask and bool(mask[name].any())]
        self._model, self._task = model, task
        self._parameters = {name: parameters[name] for name in self.names}
        self._places = {
            name: mask[name].to(parameters[name].device).reshape(-1).nonzero()[:, 0] for name in self.names
        }
        self._sizes = [len(self._places[name]) for name in self.names]
        self._suffix, self._inputs = split_at(model, self.names, data.inputs)
        self._together = True

    @property
    def start(self) -> Tensor:
        """The values as they are."""
        return torch.cat(
            [self._parameters[name].detach().reshape(-1)[self._places[name]] for name in self.names]
        )

    def spread(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Of each element's whole parameter: mean, deviation, smallest, largest."""
        columns = []
        for name, size in zip(self.names, self._sizes, strict=True):
            one = self._parameters[name].detach().float()
            deviation = one.std() if one.numel() > 1 else one.abs().max()
            columns.append(
                torch.stack([one.mean(), deviation, one.min(), one.max()])[:, None].expand(4, size)
            )
        mean, deviation, low, high = torch.cat(columns, dim=1)
        return mean, deviation, low, high

    @torch.no_grad()
    def scores(self, vectors: Tensor) -> Tensor:
        """candidates × inputs × classes."""
        per_candidate = sum(one.numel() for one in self._parameters.values()) + 64 * len(self._inputs[0])
        at_once = max(1, _MOST_NUMBERS // per_candidate)
        return torch.cat([self._judged(part) for part in vectors.split(at_once)])

    def write(self, vector: Tensor) -> None:
        """Put one candidate into the model."""
        with torch.no_grad():
            for name, values in self._filled(vector[None]).items():
                self._parameters[name].copy_(values[0])

    def _judged(self, vectors: Tensor) -> Tensor:
        filled = self._filled(vectors)
        if self._together:
            try:
                return vmap(self._answer)(filled)
            except (RuntimeError, NotImplementedError, ValueError):
                self._together = False  # layers without a batching rule, such as recurrent ones: one by one
        rows = [{name: one[place] for name, one in filled.items()} for place in range(len(vectors))]
        return torch.stack([self._answer(row) for row in rows])

    def _answer(self, values: dict[str, Tensor]) -> Tensor:
        return self._task.scores(functional_call(self._suffix, values, self._inputs))

    def _filled(self, vectors: Tensor) -> dict[str, Tensor]:
        filled = {}
        for name, part in zip(self.names, vectors.split(self._sizes, dim=1), strict=True):
            one = self._parameters[name].detach()
            rows = one.reshape(1, -1).repeat(len(vectors), 1)
            rows[:, self._places[name]] = part.to(one.dtype)
            filled[name] = rows.reshape(len(vectors), *one.shape)
        return filled


@torch.no_grad()
def split_at(
    model: nn.Module, names: list[str], inputs: tuple[Tensor, ...]
) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """For a plain Sequential: what follows the earliest touched member, and what that member is given."""
    if type(model) is not nn.Sequential or len(inputs) != 1 or not names:
        return model, inputs
    touched = {name.partition(".")[0] for name in names}
    members = list(model._modules.items())
    first = next((place for place, (name, _) in enumerate(members) if name in touched), 0)
    earlier = {id(one) for _, module in members[:first] if module for one in module.parameters()}
    if any(id(mendable(model)[name]) in earlier for name in names):
        return model, inputs  # weights shared with an earlier member
    value = inputs[0]
    for _, module in members[:first]:
        assert module is not None
        value = module(value)
    return nn.Sequential(OrderedDict((name, one) for name, one in members[first:] if one)), (value,)
