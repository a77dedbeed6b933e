"""M716."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import DQN_SCRIPT, PPO_SCRIPT
from netmend.mutate.agents.ladders import SettingOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlExplorationDecayChanged(SettingOperator):
    """Let exploration decay too fast or too slowly.

    Frozen early, the agent keeps its first habits; too slowly, it never uses what it has learned.
    """

    code: ClassVar[str] = "M716"
    causes: ClassVar[tuple[str, ...]] = ("RL-EXP-DECAY",)
    needs: ClassVar[str] = "DQN or QR-DQN"
    title: ClassVar[str] = "exploration fraction"
    setting: ClassVar[str] = "exploration_fraction"

    numbers: tuple[float, ...] = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "added where the default holds",
            DQN_SCRIPT,
            old="seed=0, **settings",
            new="seed=0, **settings, exploration_fraction=0.05",
        ),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
