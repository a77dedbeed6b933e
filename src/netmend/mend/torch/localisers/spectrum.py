"""Spectrum-based suspiciousness of neurons (DeepFault): who is active when the model fails, and when it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netmend.mend.torch.localisers.activity import activity
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.units import Group, Scores

Formula = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def tarantula(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    """Share of failures that cover the unit, of that and the share of successes."""
    failed, passed = _ratio(cf, cf + uf), _ratio(cs, cs + us)
    return _ratio(failed, failed + passed)


def ochiai(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    return _ratio(cf, ((cf + uf) * (cf + cs)).sqrt())


def dstar(cf: Tensor, uf: Tensor, cs: Tensor, us: Tensor) -> Tensor:
    """D* with the usual exponent 3; covered by all failures and nothing else is beyond every other."""
    below = cs + uf
    return torch.where(below > 0, _ratio(cf**3, below), torch.where(cf > 0, torch.inf, 0.0))


FORMULAS: dict[str, Formula] = {"tarantula": tarantula, "ochiai": ochiai, "dstar": dstar}


@dataclass(frozen=True)
class Spectrum:
    """A unit counts as covered by an input where its mean output over all places is above 0."""

    formula: str = "ochiai"

    @property
    def name(self) -> str:
        return self.formula

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        failing = activity(model, spec.failing, groups)
        passing = activity(model, spec.guard, groups)
        scores = {}
        for group in groups:
            if group.name not in failing:
                scores[group.name] = torch.full(group.shape, -torch.inf)  # never called: cannot be blamed
                continue
            wrong, right = failing[group.name] > 0, passing[group.name] > 0
            cf, cs = wrong.sum(0).double(), right.sum(0).double()
            scores[group.name] = FORMULAS[self.formula](cf, len(wrong) - cf, cs, len(right) - cs)
        return scores


def _ratio(above: Tensor, below: Tensor) -> Tensor:
    """0 / 0 is 0."""
    return torch.where(below > 0, above / below.clamp_min(1e-300), torch.zeros_like(above))
