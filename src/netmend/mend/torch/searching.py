"""Mending by search without gradients: a few weights, or a scale for a few neurons, moved by evolution or as a swarm."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from netmend.errors import UsageError
from netmend.mend.torch.localisers.by_activity import (
    causal_effect,
    forward_impact,
    gradient_loss,
    weights_only,
)
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import Examples, Task
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import NEURON, WEIGHT, Mask, pareto, top_count, units

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

    def spread(self) -> Spread:
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


Spread = tuple[Tensor, Tensor, Tensor, Tensor]  # of each element: mean, deviation, smallest, largest


@dataclass(frozen=True, eq=False)
class Space:
    """What is searched: many vectors are judged at once."""

    fitness: Callable[[Tensor], Tensor]
    start: Tensor
    spread: Spread
    population: int
    generations: int
    random: torch.Generator


# Differential evolution as Arachne uses it: best member as base, random scale, binomial crossing.


@dataclass(frozen=True)
class Evolution:
    """Published settings; the population and generations come from the budget."""

    scale: tuple[float, float] = (0.5, 1.0)
    recombination: float = 0.7
    reach: float = 2.0  # values stay within this many times the smallest and largest weight of the layer

    def search(self, space: Space, look: Callable[[Tensor], None]) -> Tensor:
        """The vector of the largest fitness; `look` sees the best of every generation."""
        start, fitness, random = space.start, space.fitness, space.random
        mean, deviation, low, high = space.spread
        bottom, top = torch.minimum(self.reach * low, low), torch.maximum(self.reach * high, high)
        members = mean + deviation * torch.randn(space.population, len(start), generator=random).to(start)
        members[0] = start  # the model as it is takes part: the search can only do better
        members = members.clamp(bottom, top)
        members[0] = start
        worth = fitness(members)
        unchanged, limit = 0, max(10, space.generations // 10)
        for _ in range(space.generations):
            best = int(worth.argmax())
            tried = self._tried(members, best, random).clamp(bottom, top)
            found = fitness(tried)
            better = found > worth
            members = torch.where(better[:, None], tried, members)
            gained = float(torch.where(better, found, worth).max()) > float(worth.max())
            worth = torch.where(better, found, worth)
            unchanged = 0 if gained else unchanged + 1
            look(members[int(worth.argmax())])
            if unchanged >= limit:
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
    reach: float | None = 2.0  # values within so many times the layer's range; None: within the bounds given
    from_start: bool = False  # all particles start near the values as they are

    def search(self, space: Space, look: Callable[[Tensor], None]) -> Tensor:
        """The vector of the largest fitness; `look` sees the best of every iteration."""
        start, fitness, random = space.start, space.fitness, space.random
        mean, deviation, low, high = space.spread
        reach = self.reach or 1.0
        bottom, top = torch.minimum(reach * low, low), torch.maximum(reach * high, high)
        noise = torch.randn(space.population, len(start), generator=random).to(start)
        middle = start if self.from_start else mean
        places = (middle + deviation * noise).clamp(bottom, top)
        places[0] = start
        fastest = 5.0 * (high - low).clamp_min(1e-12)
        speed = torch.zeros_like(places)
        own, own_worth = places.clone(), fitness(places)
        best, best_worth, without = own[int(own_worth.argmax())].clone(), float(own_worth.max()), 0
        for _ in range(space.generations):
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
            look(best)
            if without >= self.patience:
                break
        return best


def constricted(phi: float = 4.1) -> Swarm:
    """Arachne's first version: phi is split evenly, chi keeps the swarm from exploding."""
    chi = 2.0 / (phi - 2.0 + math.sqrt(phi * phi - 4.0 * phi))
    return Swarm(inertia=chi, own=chi * phi / 2, social=chi * phi / 2)


def care() -> Swarm:
    """CARE's settings: it starts at no change."""
    return Swarm(inertia=0.8, own=0.41, social=0.41, reach=None, from_start=True)


class Searcher(Protocol):
    def search(self, space: Space, look: Callable[[Tensor], None]) -> Tensor: ...


@dataclass(frozen=True)
class WeightSearch:
    """Arachne: the Pareto front of gradient loss and forward impact, new values by evolution or a swarm."""

    name: str
    what: str
    searcher: Searcher
    weight_of_failing: float = 10.0  # alpha of Arachne's second version
    sampled_guard: int = 200

    def mend(self, run: Run) -> None:
        model, spec = run.model, run.spec
        groups = weights_only(model, units(model, WEIGHT, biases=False))
        if not groups:
            raise UsageError(
                f"{self.name} needs linear, convolutional or recurrent layers; the model has none"
            )
        first, second = gradient_loss(model, spec, groups), forward_impact(model, spec, groups)
        mask = pareto(first, second, groups)
        failing, guard = spec.failing, spec.drawn(run.random, len(spec.failing), self.sampled_guard).guard
        data = failing.joined(guard)
        candidates = Population(model, spec.task, mask, data)
        run.notes.append(f"{len(candidates.start)} weights on the front")

        def fitness(vectors: Tensor) -> Tensor:
            good = graded(spec.task, candidates.scores(vectors), data)
            return good[:, len(failing) :].sum(1) + self.weight_of_failing * good[:, : len(failing)].sum(1)

        _search(run, self.searcher, candidates.start, candidates.spread(), fitness, candidates.write)


@dataclass(frozen=True)
class NeuronScaling:
    """CARE: one factor per guilty neuron, by a swarm."""

    name: str
    what: str
    searcher: Searcher
    neurons: int = 10
    accuracy: float = 0.3  # its weight; the rest is the share of failures left
    bound: float = 1.0  # factors between 1 − bound and 1 + bound

    def mend(self, run: Run) -> None:
        model, spec = run.model, run.spec
        groups = units(model, NEURON)
        mask = top_count(causal_effect(model, spec, groups), groups, self.neurons)
        chosen, factors = self._factors(run, mask)
        data = spec.failing.joined(spec.guard)
        candidates = Population(model, spec.task, mask, data)
        base = candidates.start

        def fitness(vectors: Tensor) -> Tensor:
            wrong = spec.task.wrong(candidates.scores(base * (1 + vectors[:, factors])), data.wanted).float()
            left, lost = wrong[:, : len(spec.failing)].mean(1), wrong[:, len(spec.failing) :].mean(1)
            return -((1 - self.accuracy) * left + self.accuracy * lost)

        ones = torch.ones(chosen, device=base.device, dtype=base.dtype)
        spread = (0 * ones, 0.3 * self.bound * ones, -self.bound * ones, self.bound * ones)

        def write(vector: Tensor) -> None:
            candidates.write(base * (1 + vector[factors]))

        _search(run, self.searcher, 0 * ones, spread, fitness, write)

    def _factors(self, run: Run, mask: Mask) -> tuple[int, Tensor]:
        """How many neurons there are, and which of them each chosen element (in the order of the model) belongs to."""
        marks: dict[str, Tensor] = {}
        count = 0
        for group in units(run.model, NEURON):
            for name, owners in group.owners.items():
                if name in mask:
                    inside = mask[name].to(owners.device)
                    marks[name] = owners.expand(group.members[name])[inside] + count
            count += group.count
        together = torch.cat([marks[name] for name, _ in run.model.named_parameters() if name in marks])
        kept, factors = together.unique(return_inverse=True)
        return len(kept), factors


def graded(task: Task, scores: Tensor, data: Examples) -> Tensor:
    """1 where right, else 1 / (1 + loss): a wrong answer that gets better counts a little."""
    wrong = task.wrong(scores, data.wanted)
    return torch.where(wrong, 1.0 / (1.0 + task.losses(scores, data.wanted)), 1.0)


def _search(
    run: Run,
    searcher: Searcher,
    start: Tensor,
    spread: Spread,
    fitness: Callable[[Tensor], Tensor],
    write: Callable[[Tensor], None],
) -> None:
    last: list[Tensor] = []

    def look(best: Tensor) -> None:
        run.steps += 1
        if not last or not torch.equal(last[0], best):  # else there is nothing new to look at
            last[:] = [best.clone()]
            write(best)
            run.look()

    space = Space(fitness, start, spread, run.budget.population, run.budget.generations, run.random)
    write(searcher.search(space, look))
    run.look()
