"""IRepair: the norm of the gradient of the bad answers' loss, unit by unit.

Norms of layers of different depth and size cannot be compared fairly: meant for blocks that are built alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from netmend.mend.torch.localisers.gradients import gradients
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.units import Group, Scores


@dataclass(frozen=True)
class Sensitivity:
    observed: bool = True  # of the answers that were given, as IRepair; False: of those wanted
    name: str = "gradient sensitivity"

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores:
        squares = {
            name: one.square()
            for name, one in gradients(model, spec.task, spec.failing, self.observed).items()
        }
        return {group.name: group.summed(squares).sqrt() for group in groups}
