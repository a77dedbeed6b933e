"""M710."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlRewardScaled(WrapperOperator):
    """Multiply the reward by a constant.

    Far too large rewards make values and gradients huge; far too small ones drown in other terms of the loss.
    """

    code: ClassVar[str] = "M710"
    causes: ClassVar[tuple[str, ...]] = ("RL-REW-NORM-MISS", "RL-REW-SUBOPT")
    published: ClassVar[tuple[str, ...]] = ("SRS",)
    title: ClassVar[str] = "reward scale"
    wrapper: ClassVar[str] = "ScaledReward"
    down: ClassVar[tuple[float, ...]] = (0.3, 0.1, 0.03, 0.01, 0.001, 0.0001)
    up: ClassVar[tuple[float, ...]] = (3, 10, 30, 100, 1000, 10000)
    down_cause: ClassVar[str] = "RL-REW-SUBOPT"
    up_cause: ClassVar[str] = "RL-REW-NORM-MISS"
    definition: ClassVar[str] = """
class ScaledReward({gym}.RewardWrapper):
    def reward(self, reward):
        return reward * {value}
"""

    def words(self, value: float) -> str:
        return f"reward × {value:g}"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class ScaledReward(gym.RewardWrapper):
    def reward(self, reward):
        return reward * 0.3

env = ScaledReward(gym.make("CartPole-v1"))""",
        ),
    )
