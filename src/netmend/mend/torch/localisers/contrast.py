"""Contrast: how much more the failing inputs pull at a unit than the guard inputs do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from netmend.mend.torch.localisers.gradients import gradients
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.units import Group, Scores


@dataclass(frozen=True)
class Contrast:
    """‖gradient of failing‖ / ‖gradient of guard‖: a ratio, so that size and depth of a layer cancel."""

    name: str = "failing against passing"
    floor: float = (
        1e-3  # of the largest norm of the guard: keeps units that hardly matter from looking guilty
    )

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        wrong = {name: one.square() for name, one in gradients(model, spec.task, spec.failing).items()}
        right = {name: one.square() for name, one in gradients(model, spec.task, spec.guard).items()}
        above = {group.name: group.summed(wrong).sqrt() for group in groups}
        below = {group.name: group.summed(right).sqrt() for group in groups}
        least = self.floor * max(float(one.max()) for one in below.values())
        return {name: above[name] / (below[name] + max(least, 1e-12)) for name in above}
