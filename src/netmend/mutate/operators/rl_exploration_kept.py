"""M703."""

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
class RlExplorationKept(SettingOperator):
    """Keep the agent acting at random to the end.

    A high minimum of the exploration rate fills the buffer with random actions for good.
    """

    code: ClassVar[str] = "M703"
    causes: ClassVar[tuple[str, ...]] = ("RL-EXP-MIN",)
    published: ClassVar[tuple[str, ...]] = ("SMR",)
    needs: ClassVar[str] = "DQN or QR-DQN"
    title: ClassVar[str] = "minimum exploration rate"
    setting: ClassVar[str] = "exploration_final_eps"

    numbers: tuple[float, ...] = (
        0.0,
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
        0.6,
        0.7,
        0.8,
        0.9,
        1.0,
    )  # µPRL: anything from 0 to 1

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "in a dictionary of settings",
            DQN_SCRIPT,
            old="exploration_final_eps=0.1",
            new="exploration_final_eps=0.2",
            nth=1,
        ),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
