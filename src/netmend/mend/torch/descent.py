"""Mending by gradient descent on a slice of the weights, under a guard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.mend.torch.localisers import Localiser
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import LAYER, Group, Mask, Scores, argmax, units, whole

ALPHA = 0.5  # weight of the failing inputs' loss in IRepair, which left the guard term whole


def objective(model: nn.Module, batch: Spec, guarded: bool) -> Tensor:
    """The loss of the failing inputs, and how far the guard's answers have moved; in one forward pass, since small models spend their
    time on calls, not on inputs."""
    task, failing = batch.task, batch.failing
    both = failing.joined(batch.guard) if guarded else failing
    scores = task.scores(model(*both.inputs))
    loss = ALPHA * task.losses(scores[: len(failing)], failing.wanted).mean()
    if guarded:
        loss = loss + task.drift(scores[len(failing) :], batch.guard.reference).mean()
    return loss


# Gradient descent on a slice: what is outside does not move, and neither does the optimiser's memory of it.


class MaskedDescent:
    """One optimiser over all parameters for a whole run; each step may have a slice of its own."""

    def __init__(self, model: nn.Module, rate: float, clip: float | None = None) -> None:
        self._parameters = mendable(model)
        self._rule = torch.optim.RMSprop(list(self._parameters.values()), lr=rate)
        self._clip = clip
        self._last: tuple[Mask, dict[str, Tensor]] = ({}, {})  # a slice that stays is looked at once

    def step(self, loss: Callable[[], Tensor], mask: Mask) -> Tensor:
        """Lower the loss inside the mask; gives the loss before the step."""
        inside = {name: self._parameters[name] for name in mask}
        partial = self._partly(mask)
        for name, one in self._parameters.items():
            one.requires_grad_(name in inside)
            one.grad = None  # not zero: a zero gradient would still move moments
        value = loss()
        # A layer that the loss does not reach has no gradient, and stays.
        found = torch.autograd.grad(value, list(inside.values()), allow_unused=True)
        for (name, one), gradient in zip(inside.items(), found, strict=True):
            one.grad = gradient if gradient is None or name not in partial else gradient * partial[name]
        if self._clip is not None:
            nn.utils.clip_grad_norm_(list(inside.values()), self._clip)
        kept = self._kept(partial)
        self._rule.step()
        self._restore(kept, partial)
        for one in inside.values():
            one.grad = None
        return value.detach()

    def _partly(self, mask: Mask) -> dict[str, Tensor]:
        """Masks of the parameters that are neither wholly in nor wholly out, on their device."""
        if mask is not self._last[0]:
            partial = {
                name: one.to(self._parameters[name].device)
                for name, one in mask.items()
                if not bool(one.all())
            }
            self._last = (mask, partial)
        return self._last[1]

    def _kept(self, partial: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        """Values and moments of parameters that are partly frozen, before the step."""
        kept = {}
        for name in partial:
            parameter = self._parameters[name]
            state = self._rule.state.get(parameter, {})
            alike = {key: one.clone() for key, one in state.items() if _like(one, parameter)}
            kept[name] = {"": parameter.detach().clone(), **alike}
        return kept

    @torch.no_grad()
    def _restore(self, kept: dict[str, dict[str, Tensor]], partial: dict[str, Tensor]) -> None:
        for name, mask in partial.items():
            parameter = self._parameters[name]
            outside = ~mask
            parameter[outside] = kept[name][""][outside]
            for key, one in self._rule.state.get(parameter, {}).items():
                if _like(one, parameter):
                    before = kept[name].get(key)
                    one[outside] = 0.0 if before is None else before[outside]


def _like(one: object, parameter: nn.Parameter) -> bool:
    return isinstance(one, Tensor) and one.shape == parameter.shape and one.dim() > 0


# Mending by gradient descent: score units, take a slice, step in it under a guard, look at the hold-outs.

Slicer = Callable[[Scores, Iterable[Group]], Mask]


@dataclass(frozen=True)
class Descent:
    """A named combination; without a localiser everything may change."""

    name: str
    what: str
    localiser: Localiser | None = None
    unit: str = LAYER
    slicer: Slicer = argmax
    refresh: int | None = None  # steps for which a slice stays; None: chosen once, from all data
    guarded: bool = True
    clip: float | None = None

    def mend(self, run: Run) -> None:
        model, spec, budget = run.model, run.spec, run.budget
        optimiser = MaskedDescent(model, budget.rate, self.clip)
        groups = () if self.localiser is None else units(model, self.unit)
        mask = whole(model) if self.localiser is None or self.refresh else self._slice(run, spec, groups)
        for step in range(budget.steps):
            batch = spec.drawn(run.random, budget.failing_batch, budget.guard_batch)
            if self.localiser is not None and self.refresh and step % self.refresh == 0:
                mask = self._slice(run, batch, groups)
            optimiser.step(lambda batch=batch: objective(model, batch, self.guarded), mask)  # type: ignore[misc]
            run.steps += 1
            if run.steps % budget.look_every == 0:
                run.look()
        if run.steps % budget.look_every:
            run.look()

    def _slice(self, run: Run, data: Spec, groups: tuple[Group, ...]) -> Mask:
        assert self.localiser is not None
        for one in run.model.parameters():
            one.requires_grad_(one.is_floating_point())
        with torch.enable_grad():
            scores = self.localiser(run.model, data, groups)
        return self.slicer(scores, groups)
