"""M701."""

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
class RlDiscountChanged(SettingOperator):
    """Change the discount factor.

    Far too low, the agent sees only the next few steps; too close to 1, distant rewards make the values noisy and slow to learn.
    """

    code: ClassVar[str] = "M701"
    causes: ClassVar[tuple[str, ...]] = ("RL-GAMMA",)
    published: ClassVar[tuple[str, ...]] = ("SDF",)
    needs: ClassVar[str] = "any algorithm"
    title: ClassVar[str] = "discount factor"
    setting: ClassVar[str] = "gamma"

    numbers: tuple[float, ...] = (
        0.45,
        0.5,
        0.6,
        0.7,
        0.8,
        0.9,
        0.95,
        0.98,
        0.99,
        0.995,
        0.999,
        0.9999,
    )  # those of µPRL

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return self.numbers

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("the next lower one", PPO_SCRIPT, old="gamma=0.98", new="gamma=0.95"),
        Example(
            "added where the default holds",
            DQN_SCRIPT,
            old="seed=0, **settings",
            new="seed=0, **settings, gamma=0.98",
        ),
    )
