"""Which units are to blame: one way per file, each without memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import nn

from netmend.mend.torch.spec import Spec
from netmend.mend.torch.units import Group, Scores


class Localiser(Protocol):
    """Scores all units of the groups, the most suspicious highest."""

    def __call__(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores: ...
