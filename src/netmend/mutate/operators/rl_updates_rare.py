"""M720."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import UP, SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlUpdatesRare(SettingOperator):
    """Update the network far less often.

    The same experience is collected, but hardly anything is learned from it.
    """

    code: ClassVar[str] = "M720"
    causes: ClassVar[tuple[str, ...]] = ("RL-NET-FREQ",)
    needs: ClassVar[str] = "an algorithm with a replay buffer"
    title: ClassVar[str] = "steps between updates"
    setting: ClassVar[str] = "train_freq"
    whole: ClassVar[bool] = True
    one_way: ClassVar[str] = UP

    factors: tuple[float, ...] = (2, 4, 8, 16, 64)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [present * factor for factor in self.factors]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "added where the default holds",
            DQN_SCRIPT,
            old="seed=0, **settings",
            new="seed=0, **settings, train_freq=8",
        ),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
