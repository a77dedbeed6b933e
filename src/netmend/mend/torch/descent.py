"""Mending by gradient descent: score units, take a slice, step in it under a guard, look at the hold-outs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch

from netmend.mend.torch import slicers
from netmend.mend.torch.localisers import Localiser
from netmend.mend.torch.objectives import Objective
from netmend.mend.torch.optimisers.masked_descent import MaskedDescent
from netmend.mend.torch.running import Run
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.units import LAYER, Group, Mask, Scores, units, whole

Slicer = Callable[[Scores, Iterable[Group]], Mask]


@dataclass(frozen=True)
class Descent:
    """A named combination; without a localiser everything may change."""

    name: str
    what: str
    localiser: Localiser | None = None
    unit: str = LAYER
    slicer: Slicer = slicers.argmax
    refresh: int | None = None  # steps for which a slice stays; None: chosen once, from all data
    objective: Objective = field(default_factory=Objective)
    rule: str = "rmsprop"
    clip: float | None = None
    blocks: str | None = None

    def mend(self, run: Run) -> None:
        model, spec, budget = run.model, run.spec, run.budget
        optimiser = MaskedDescent(model, budget.rate, self.rule, self.clip)
        groups = () if self.localiser is None else units(model, self.unit, self.blocks)
        mask = whole(model) if self.localiser is None or self.refresh else self._slice(run, spec, groups)
        for step in range(budget.steps):
            batch = spec.drawn(run.random, budget.failing_batch, budget.guard_batch)
            if self.localiser is not None and self.refresh and step % self.refresh == 0:
                mask = self._slice(run, batch, groups)
            optimiser.step(lambda batch=batch: self.objective(model, batch), mask)  # type: ignore[misc]
            run.steps += 1
            run.evaluations += len(batch.failing) + len(batch.guard)
            if run.steps % budget.look_every == 0 and not run.look():
                break
        if run.steps % budget.look_every:
            run.look()

    def _slice(self, run: Run, data: Spec, groups: tuple[Group, ...]) -> Mask:
        assert self.localiser is not None
        for one in run.model.parameters():
            one.requires_grad_(one.is_floating_point())
        with torch.enable_grad():
            scores = self.localiser.score(run.model, data, groups)
        run.evaluations += len(data.failing)
        return self.slicer(scores, groups)
