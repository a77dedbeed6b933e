"""Which units are to blame: one way per file, each without memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import nn

from netmend.adapters.torch.mending.spec import Spec
from netmend.adapters.torch.mending.units import Group, Scores


class Localiser(Protocol):
    """Scores all units of the groups, the most suspicious highest."""

    @property
    def name(self) -> str: ...

    def score(self, model: nn.Module, spec: Spec, groups: Sequence[Group]) -> Scores: ...
