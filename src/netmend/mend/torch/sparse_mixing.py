"""A short dense repair shows which weights matter; the repair is then made again in those alone.

1. A part of the steps on all weights, under the mixing objective. 2. Each weight is scored by |its move · the gradient of the
failing loss at the start|: how much of the repair that move brings, to first order. 3. All moves are taken back, and the best
fifth of the weights is trained again, at a larger rate since fewer have to do the work; the running average of the weights counts.
4. Where hold-outs are there to choose by, points on the line from the old to the new weights are tried, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from netmend.mend.torch import slicers
from netmend.mend.torch.averaging import Average
from netmend.mend.torch.localisers.gradients import gradients
from netmend.mend.torch.mixing import Mixing
from netmend.mend.torch.optimisers.masked_descent import MaskedDescent
from netmend.mend.torch.running import Run
from netmend.mend.torch.undisturbed import copied, mendable, put_back
from netmend.mend.torch.units import WEIGHT, Mask, units, whole


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
    rule: str = "rmsprop"

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
                put_back(run.model, _between(first, average.values, point))
                run.look()
            put_back(run.model, average.values)

    def _descend(self, run: Run, mask: Mask, steps: int, rate: float, looks: bool) -> Average:
        model, spec, budget = run.model, run.spec, run.budget
        optimiser, average = MaskedDescent(model, rate, self.rule), Average(model, self.decay)
        for step in range(1, steps + 1):
            batch = spec.drawn(run.random, budget.failing_batch, budget.guard_batch)
            optimiser.step(lambda batch=batch: self.objective(model, batch, run.random), mask)  # type: ignore[misc]
            average.add()
            run.steps += 1
            run.evaluations += 2 * (len(batch.failing) + len(batch.guard))
            if looks and (step % budget.look_every == 0 or step == steps):
                with average.inside():
                    go_on = run.look()
                if not go_on:
                    break
            elif not run.in_time:
                break
        return average

    def _worth_changing(self, run: Run, first: dict[str, Tensor], found: dict[str, Tensor]) -> Mask:
        model = run.model
        moved = {name: (found[name] - one).abs() for name, one in first.items()}
        put_back(model, first)
        for one in mendable(model).values():
            one.requires_grad_(True)
        with torch.enable_grad():
            pull = gradients(model, run.spec.task, run.spec.failing)
        run.evaluations += len(run.spec.failing)
        scores = {name: one * pull[name].abs() for name, one in moved.items()}
        return slicers.top_share(scores, units(model, WEIGHT), self.share)


def _between(old: dict[str, Tensor], new: dict[str, Tensor], point: float) -> dict[str, Tensor]:
    # Weights that did not move stay exactly as they are.
    return {
        name: torch.where(new[name] == one, one, one + point * (new[name] - one)) for name, one in old.items()
    }
