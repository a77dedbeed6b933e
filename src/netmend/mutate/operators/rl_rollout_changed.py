"""M705."""

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
class RlRolloutChanged(SettingOperator):
    """Change how many steps are collected before each update.

    Very short rollouts make noisy updates; very long ones leave few updates for the same budget.
    """

    code: ClassVar[str] = "M705"
    causes: ClassVar[tuple[str, ...]] = ("RL-FA-ROLLOUT",)
    published: ClassVar[tuple[str, ...]] = ("SNR",)
    needs: ClassVar[str] = "PPO, A2C or TRPO"
    title: ClassVar[str] = "rollout length"
    setting: ClassVar[str] = "n_steps"
    algorithms: ClassVar[tuple[str, ...]] = ("PPO", "A2C", "TRPO")
    whole: ClassVar[bool] = True

    numbers: tuple[float, ...] = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072)  # those of µPRL

    def values(self, present: float, steps: float | None) -> Sequence[float]:
        return [number for number in self.numbers if steps is None or number <= max(present, steps)]

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("shorter", PPO_SCRIPT, old="n_steps=16", new="n_steps=8"),
        Example("not a setting of this algorithm", DQN_SCRIPT),
    )
