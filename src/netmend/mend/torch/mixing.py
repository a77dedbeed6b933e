"""Objective that fills the space between the few failing inputs: mixtures of inputs (mixup) and noise beside them.

A repair sees a few dozen failing inputs. On digits, learning them by heart is what plain fine-tuning does; mixtures of pairs, with
both wanted answers in proportion, made it repair more of the unseen failures and break less (see the study of classifiers).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.mend.torch.objectives import Objective
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.tasks import Task


@dataclass(frozen=True)
class Mixing:
    """alpha · repair + guard_weight · guard + mixtures, on inputs with noise. Whole-number inputs are left as they are."""

    plain: Objective
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
        loss = self.plain.alpha * self.plain.repair_term(task, plain[:count], batch.failing).mean()
        loss = loss + self.guard_weight * self.plain.guard_term(task, plain[count:], guard).mean()
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
