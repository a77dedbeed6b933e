"""Mending by search: a few weights, or a scale for a few neurons, found without gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from netmend.errors import UsageError
from netmend.mend.torch import slicers
from netmend.mend.torch.localisers import Localiser
from netmend.mend.torch.localisers.by_activity import CausalEffect, ForwardImpact, GradientLoss, weights_only
from netmend.mend.torch.population import Population
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import Examples
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.units import NEURON, WEIGHT, Mask, units

Spread = tuple[Tensor, Tensor, Tensor, Tensor]


class Searcher(Protocol):
    def search(
        self,
        fitness: Callable[[Tensor], Tensor],
        start: Tensor,
        spread: Spread,
        population: int,
        generations: int,
        random: torch.Generator,
        go_on: Callable[[Tensor], bool],
    ) -> Tensor: ...


@dataclass(frozen=True)
class WeightSearch:
    """Arachne: the Pareto front of gradient loss and forward impact, new values by evolution or a swarm."""

    name: str
    what: str
    searcher: Searcher
    weight_of_failing: float = 10.0  # alpha of Arachne's second version
    sampled_guard: int = 200
    most: int | None = None  # weights; None: the first front only

    def mend(self, run: Run) -> None:
        model, spec = run.model, run.spec
        groups = weights_only(model, units(model, WEIGHT, biases=False))
        if not groups:
            raise UsageError(
                f"{self.name} needs linear, convolutional or recurrent layers; the model has none"
            )
        first, second = (one.score(model, spec, groups) for one in (GradientLoss(), ForwardImpact()))
        mask = slicers.pareto(first, second, groups, self.most)
        failing, guard = spec.failing, spec.drawn(run.random, len(spec.failing), self.sampled_guard).guard
        data = failing.joined(guard)
        candidates = Population(model, spec.task, mask, data)
        run.notes.append(f"{len(candidates.start)} weights on the front")

        def fitness(vectors: Tensor) -> Tensor:
            run.evaluations += len(vectors) * len(data)
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
    localiser: Localiser = field(default_factory=CausalEffect)

    def mend(self, run: Run) -> None:
        model, spec = run.model, run.spec
        groups = units(model, NEURON)
        mask = slicers.top_count(self.localiser.score(model, spec, groups), groups, self.neurons)
        chosen, factors = self._factors(run, mask)
        data = spec.failing.joined(spec.guard)
        candidates = Population(model, spec.task, mask, data)
        base = candidates.start

        def fitness(vectors: Tensor) -> Tensor:
            run.evaluations += len(vectors) * len(data)
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

    def go_on(best: Tensor) -> bool:
        run.steps += 1
        if last and torch.equal(last[0], best):
            return run.in_time  # nothing new to look at
        last[:] = [best.clone()]
        write(best)
        return run.look()

    budget = run.budget
    write(searcher.search(fitness, start, spread, budget.population, budget.generations, run.random, go_on))
    run.look()
