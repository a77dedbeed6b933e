"""Causal effect of neurons on the misbehaviour (CARE): set a neuron to values that it takes, see how failures change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from netmend.adapters.torch.watch.kinds import channel_axis
from netmend.mend.torch.localisers.activity import activity
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.units import Group, Scores


@dataclass(frozen=True)
class CausalEffect:
    """Mean over values v of |share of failures under do(neuron = v) − share without|."""

    values: int = 16  # between the smallest and largest that was seen, as CARE
    most_inputs: int = 128  # every neuron costs a pass per value
    name: str = "causal effect"

    @torch.no_grad()
    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        data = spec.failing.taken(_spread(len(spec.failing), self.most_inputs, spec.failing.wanted.device))
        seen = activity(model, data.joined(spec.guard), groups)
        base = float(_failures(model, spec.task, data).mean())
        modules = dict(model.named_modules())
        scores = {}
        for group in groups:
            scores[group.name] = torch.full(group.shape, -torch.inf)
            if group.name not in seen:
                continue  # never called, or its units are not told apart: cannot be set
            low, high = seen[group.name].amin(0), seen[group.name].amax(0)
            for unit in range(group.count):
                tried = torch.linspace(float(low[unit]), float(high[unit]), self.values)
                with held(modules[group.name], unit, tried.repeat_interleave(len(data)).to(low)):
                    repeated = data.taken(torch.arange(len(data), device=low.device).repeat(self.values))
                    failed = _failures(model, spec.task, repeated).reshape(self.values, len(data)).mean(1)
                scores[group.name][unit] = float((failed - base).abs().mean())
        return scores


@contextmanager
def held(module: nn.Module, unit: int, values: Tensor) -> Iterator[None]:
    """One unit of a module's output gives these values, one per input, at all places."""

    def hook(one: nn.Module, given: Any, made: Any) -> Any:
        first = made[0] if isinstance(made, tuple) else made
        axis = channel_axis(one)
        if axis is None:
            axis = -1
        changed = first.clone()
        target = changed.select(axis, unit)
        batch = 1 if getattr(one, "batch_first", True) is False else 0
        shape = [1] * target.dim()
        shape[batch] = len(values)
        target.copy_(values.reshape(shape).expand_as(target))
        return (changed, *made[1:]) if isinstance(made, tuple) else changed

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _failures(model: nn.Module, task: Task, data: Examples) -> Tensor:
    """1.0 where the answer is wrong. One pass: a held unit has one value per input of the whole call."""
    return task.wrong(task.scores(model(*data.inputs)), data.wanted).float()


def _spread(count: int, most: int, device: torch.device) -> Tensor:
    return torch.linspace(0, count - 1, min(count, most), device=device).round().long()
