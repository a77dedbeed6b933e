"""M714."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import DOWN, SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlBufferSmall(SettingOperator):
    """Make the replay buffer small.

    Only the latest steps are remembered: batches are correlated and what was learned is forgotten.
    """

    code: ClassVar[str] = "M714"
    causes: ClassVar[tuple[str, ...]] = ("RL-BUF-SIZE",)
    published: ClassVar[tuple[str, ...]] = ("SBS",)
    needs: ClassVar[str] = "an algorithm with a replay buffer, and a number of steps that can be told"
    title: ClassVar[str] = "replay buffer size"
    setting: ClassVar[str] = "buffer_size"
    whole: ClassVar[bool] = True
    one_way: ClassVar[str] = DOWN

    shares: tuple[float, ...] = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.002)  # of the training steps

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [] if steps is None else [share * min(steps, present) for share in self.shares]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("half of what was kept", DQN_SCRIPT, old="buffer_size=50", new="buffer_size=25"),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
