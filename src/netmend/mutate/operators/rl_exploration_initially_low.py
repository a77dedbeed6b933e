"""M715."""

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
class RlExplorationInitiallyLow(SettingOperator):
    """Start with little exploration.

    The agent repeats its first habits before it has seen anything else.
    """

    code: ClassVar[str] = "M715"
    causes: ClassVar[tuple[str, ...]] = ("RL-EXP-EPS",)
    published: ClassVar[tuple[str, ...]] = ("SER",)
    needs: ClassVar[str] = "DQN or QR-DQN"
    title: ClassVar[str] = "initial exploration rate"
    setting: ClassVar[str] = "exploration_initial_eps"
    one_way: ClassVar[str] = DOWN

    numbers: tuple[float, ...] = (0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.0)

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "added where the default holds",
            DQN_SCRIPT,
            old="seed=0, **settings",
            new="seed=0, **settings, exploration_initial_eps=0.8",
        ),
        Example("not a setting of this algorithm", PPO_SCRIPT),
    )
