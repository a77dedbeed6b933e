"""Influence (I-Repair): how much a weight carries of the failing inputs' loss, less what it carries of the guard's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from netmend.mend.torch.localisers.gradients import gradients
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.undisturbed import mendable
from netmend.mend.torch.units import Group, Scores


@dataclass(frozen=True)
class Influence:
    """|gradient · weight| on failing inputs minus the same on the guard, both as shares of their sums."""

    name: str = "influence"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        wrong, right = _shares(model, spec, spec.failing), _shares(model, spec, spec.guard)
        difference = {name: wrong[name] - right[name] for name in wrong}
        return {group.name: group.summed(difference) for group in groups}


def _shares(model: nn.Module, spec: Spec, data: Examples) -> dict[str, Tensor]:
    found = gradients(model, spec.task, data)
    carried = {name: (found[name] * one.detach()).abs() for name, one in mendable(model).items()}
    total = sum(float(one.sum()) for one in carried.values())
    return {name: one / max(total, 1e-30) for name, one in carried.items()}
