"""Searches without gradients: candidates for a few weights, judged at once and moved by evolution or as a swarm."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from netmend.mend.torch.spec import Examples
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import Mask

# Many candidate values of one slice, judged at once: functional calls under vmap, what lies before the slice computed once.

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


# Differential evolution as Arachne uses it: best member as base, random scale, binomial crossing.


@dataclass(frozen=True)
class Evolution:
    """Published settings; the population and generations come from the budget."""

    scale: tuple[float, float] = (0.5, 1.0)
    recombination: float = 0.7
    reach: float = 2.0  # values stay within this many times the smallest and largest weight of the layer

    def search(
        self,
        fitness: Callable[[Tensor], Tensor],
        start: Tensor,
        spread: tuple[Tensor, Tensor, Tensor, Tensor],
        population: int,
        generations: int,
        random: torch.Generator,
        go_on: Callable[[Tensor], bool],
    ) -> Tensor:
        """The vector of the largest fitness; `go_on` sees the best of every generation."""
        mean, deviation, low, high = spread
        bottom, top = torch.minimum(self.reach * low, low), torch.maximum(self.reach * high, high)
        members = mean + deviation * torch.randn(population, len(start), generator=random).to(start)
        members[0] = start  # the model as it is takes part: the search can only do better
        members = members.clamp(bottom, top)
        members[0] = start
        worth = fitness(members)
        unchanged, limit = 0, max(10, generations // 10)
        for _ in range(generations):
            best = int(worth.argmax())
            tried = self._tried(members, best, random).clamp(bottom, top)
            found = fitness(tried)
            better = found > worth
            members = torch.where(better[:, None], tried, members)
            gained = float(torch.where(better, found, worth).max()) > float(worth.max())
            worth = torch.where(better, found, worth)
            unchanged = 0 if gained else unchanged + 1
            if not go_on(members[int(worth.argmax())]) or unchanged >= limit:
                break
        return members[int(worth.argmax())]

    def _tried(self, members: Tensor, best: int, random: torch.Generator) -> Tensor:
        count, width = members.shape
        # Two others for each member, never itself and never the same twice.
        one = (torch.arange(count) + torch.randint(1, count, (count,), generator=random)) % count
        two = (torch.arange(count) + torch.randint(1, count, (count,), generator=random)) % count
        two = torch.where(two == one, (two + 1) % count, two)
        two = torch.where(two == torch.arange(count), (two + 1) % count, two)
        two = torch.where(two == one, (two + 1) % count, two)
        drawn = torch.rand(count, 1, generator=random)
        factor = (self.scale[0] + (self.scale[1] - self.scale[0]) * drawn).to(members)
        mutant = members[best] + factor * (members[one] - members[two])
        crossed = torch.rand(count, width, generator=random) < self.recombination
        crossed[torch.arange(count), torch.randint(0, width, (count,), generator=random)] = True
        return torch.where(crossed.to(members.device), mutant, members)


# Particle swarms: Arachne's first version (constriction) and CARE's (small accelerations).


@dataclass(frozen=True)
class Swarm:
    """v ← inertia · v + own · r₁ (own best − x) + social · r₂ (best − x)."""

    inertia: float
    own: float
    social: float
    patience: int = 10  # iterations without gain before it stops
    reach: float | None = (
        2.0  # values within this many times the layer's range; None: within the bounds given as range
    )
    from_start: bool = False  # all particles start near the values as they are

    def search(
        self,
        fitness: Callable[[Tensor], Tensor],
        start: Tensor,
        spread: tuple[Tensor, Tensor, Tensor, Tensor],
        population: int,
        generations: int,
        random: torch.Generator,
        go_on: Callable[[Tensor], bool],
    ) -> Tensor:
        """The vector of the largest fitness; `go_on` sees the best of every iteration."""
        mean, deviation, low, high = spread
        reach = self.reach or 1.0
        bottom, top = torch.minimum(reach * low, low), torch.maximum(reach * high, high)
        noise = torch.randn(population, len(start), generator=random).to(start)
        middle = start if self.from_start else mean
        places = (middle + deviation * noise).clamp(bottom, top)
        places[0] = start
        fastest = 5.0 * (high - low).clamp_min(1e-12)
        speed = torch.zeros_like(places)
        own, own_worth = places.clone(), fitness(places)
        best, best_worth, without = own[int(own_worth.argmax())].clone(), float(own_worth.max()), 0
        for _ in range(generations):
            first, second = torch.rand(2, *places.shape, generator=random).to(places)
            speed = (
                self.inertia * speed
                + self.own * first * (own - places)
                + self.social * second * (best - places)
            )
            speed = speed.clamp(-fastest, fastest)
            places = (places + speed).clamp(bottom, top)
            worth = fitness(places)
            better = worth > own_worth
            own, own_worth = torch.where(better[:, None], places, own), torch.where(better, worth, own_worth)
            without = without + 1
            if float(own_worth.max()) > best_worth:
                best, best_worth, without = own[int(own_worth.argmax())].clone(), float(own_worth.max()), 0
            if not go_on(best) or without >= self.patience:
                break
        return best


def constricted(phi: float = 4.1) -> Swarm:
    """Arachne's first version: phi is split evenly, chi keeps the swarm from exploding."""
    chi = 2.0 / (phi - 2.0 + math.sqrt(phi * phi - 4.0 * phi))
    return Swarm(inertia=chi, own=chi * phi / 2, social=chi * phi / 2)


def care() -> Swarm:
    """CARE's settings: it starts at no change."""
    return Swarm(inertia=0.8, own=0.41, social=0.41, reach=None, from_start=True)
