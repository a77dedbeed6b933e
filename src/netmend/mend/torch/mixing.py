"""Mending with mixtures of the few failing inputs, in all weights or in those that matter, averaged over the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.mend.torch.descent import MaskedDescent
from netmend.mend.torch.localisers.by_gradient import gradients
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import Examples, Spec, Task
from netmend.mend.torch.undisturbed import between, copied, mendable, put_back
from netmend.mend.torch.units import WEIGHT, Mask, top_share, units, whole

# Objective that fills the space between the few failing inputs: mixtures of inputs (mixup) and noise beside them.
#
# A repair sees a few dozen failing inputs. On digits, learning them by heart is what plain fine-tuning does; mixtures of pairs, with
# both wanted answers in proportion, made it repair more of the unseen failures and break less (see the study of classifiers).


@dataclass(frozen=True)
class Mixing:
    """alpha · repair + guard_weight · guard + mixtures, on inputs with noise. Whole-number inputs are left as they are."""

    alpha: float = 0.35
    guard_weight: float = 4.0
    mixtures: float = 1.0
    noise: float = 0.25  # in deviations of all inputs
    corrected: float = 0.5  # part of the guard's reference that its label takes over

    def __call__(self, model: nn.Module, batch: Spec, random: torch.Generator) -> Tensor:
        task, count = batch.task, len(batch.failing)
        both = batch.failing.joined(batch.guard)
        smooth = all(one.is_floating_point() for one in both.inputs)
        if smooth and self.noise:
            both = replace(both, inputs=tuple(_noisy(one, self.noise, random) for one in both.inputs))
        inputs, mixed, partner, part = both.inputs, len(both) if smooth and self.mixtures else 0, None, None
        if mixed:
            partner = torch.randperm(mixed, generator=random).to(both.wanted.device)
            part = torch.rand(mixed, generator=random).to(inputs[0])
            part = torch.maximum(part, 1 - part)  # the first of each pair stays the larger part
            inputs = tuple(torch.cat([one, _mixed(one, partner, part)]) for one in inputs)
        scores = task.scores(model(*inputs))
        plain = scores[: len(both)]
        guard = self._reference(task, batch.guard)
        loss = self.alpha * task.losses(plain[:count], batch.failing.wanted).mean()
        loss = loss + self.guard_weight * task.drift(plain[count:], guard.reference).mean()
        if partner is not None and part is not None:
            tail = scores[len(both) :]
            halves = part * task.losses(tail, both.wanted) + (1 - part) * task.losses(
                tail, both.wanted[partner]
            )
            loss = loss + self.mixtures * halves.mean()
        return loss

    def _reference(self, task: Task, guard: Examples) -> Examples:
        """A model unsure of a guard input need not be held to its doubts."""
        if not self.corrected or not task.classes:
            return guard
        labels = functional.one_hot(guard.wanted, guard.reference.shape[-1]).to(guard.reference)
        answers = (1 - self.corrected) * guard.reference.softmax(dim=-1) + self.corrected * labels
        return replace(guard, reference=answers.clamp_min(1e-9).log())


def _noisy(one: Tensor, noise: float, random: torch.Generator) -> Tensor:
    drawn = torch.randn(one.shape, generator=random).to(one)
    return one + noise * one.std() * drawn if one.numel() > 1 else one


def _mixed(one: Tensor, partner: Tensor, part: Tensor) -> Tensor:
    share = part.reshape(-1, *[1] * (one.dim() - 1)).to(one.dtype)
    return share * one + (1 - share) * one[partner]


# A short dense repair shows which weights matter; the repair is then made again in those alone.
#
# 1. A part of the steps on all weights, under the mixing objective. 2. Each weight is scored by |its move · the gradient of the
# failing loss at the start|: how much of the repair that move brings, to first order. 3. All moves are taken back, and the best
# fifth of the weights is trained again, at a larger rate since fewer have to do the work; the running average of the weights counts.
# 4. Where hold-outs are there to choose by, points on the line from the old to the new weights are tried, too.


@dataclass(frozen=True)
class SparseMixing:
    name: str
    what: str
    objective: Mixing
    share: float = 0.2  # of all weights; 1: all of them, without a first phase
    dense: float = 0.2  # part of the steps that looks for them
    faster: float = 1.5  # rate of the sparse phase against that of the budget
    decay: float = 0.98
    line: tuple[float, ...] = (0.6, 0.8, 1.2)  # points tried between old (0) and new (1) weights, and beyond

    def mend(self, run: Run) -> None:
        first = copied(run.model)
        if self.share >= 1.0:
            average = self._descend(run, whole(run.model), run.budget.steps, run.budget.rate, looks=True)
        else:
            dense = max(1, int(self.dense * run.budget.steps))
            found = self._descend(run, whole(run.model), dense, run.budget.rate, looks=False).values
            mask = self._worth_changing(run, first, found)
            put_back(run.model, first)
            steps, rate = max(1, run.budget.steps - dense), self.faster * run.budget.rate
            average = self._descend(run, mask, steps, rate, looks=True)
        put_back(run.model, average.values)
        if run.spec.judged:
            for point in self.line:
                put_back(run.model, between(first, average.values, point))
                run.look()
            put_back(run.model, average.values)

    def _descend(self, run: Run, mask: Mask, steps: int, rate: float, looks: bool) -> Average:
        model, spec, budget = run.model, run.spec, run.budget
        optimiser, average = MaskedDescent(model, rate), Average(model, self.decay)
        for step in range(1, steps + 1):
            batch = spec.drawn(run.random, budget.failing_batch, budget.guard_batch)
            optimiser.step(lambda batch=batch: self.objective(model, batch, run.random), mask)  # type: ignore[misc]
            average.add()
            run.steps += 1
            if looks and (step % budget.look_every == 0 or step == steps):
                with average.inside():
                    run.look()
        return average

    def _worth_changing(self, run: Run, first: dict[str, Tensor], found: dict[str, Tensor]) -> Mask:
        model = run.model
        moved = {name: (found[name] - one).abs() for name, one in first.items()}
        put_back(model, first)
        for one in mendable(model).values():
            one.requires_grad_(True)
        with torch.enable_grad():
            pull = gradients(model, run.spec.task, run.spec.failing)
        scores = {name: one * pull[name].abs() for name, one in moved.items()}
        return top_share(scores, units(model, WEIGHT), self.share)


# A running average of weights: less noisy than the last step's.


class Average:
    """About the last tenth of all steps counts, in long runs the last 1 / (1 − decay) steps."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._model, self._decay, self._count = model, decay, 0
        self.values = copied(model)

    @torch.no_grad()
    def add(self) -> None:
        self._count += 1
        decay = min(self._decay, self._count / (self._count + 9))
        for name, one in mendable(self._model).items():
            # lerp leaves a weight that never moved exactly as it is; a weighted sum would round it.
            self.values[name].lerp_(one.detach(), 1 - decay)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The model with the averaged weights."""
        now = copied(self._model)
        put_back(self._model, self.values)
        try:
            yield
        finally:
            put_back(self._model, now)
