"""M721."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlRewardShifted(WrapperOperator):
    """Add a constant to every reward.

    A constant is harmless in episodes of fixed length only: elsewhere the agent learns to end the episode, or to drag it out.
    """

    code: ClassVar[str] = "M721"
    causes: ClassVar[tuple[str, ...]] = ("RL-REW-SUBOPT",)
    title: ClassVar[str] = "reward offset"
    wrapper: ClassVar[str] = "ShiftedReward"
    down: ClassVar[tuple[float, ...]] = (-0.1, -0.3, -0.6, -0.9, -1.0, -1.5, -3.0)
    up: ClassVar[tuple[float, ...]] = (0.3, 1.0, 3.0, 10.0)
    definition: ClassVar[str] = """
class ShiftedReward({gym}.RewardWrapper):
    def reward(self, reward):
        return reward + {value}
"""

    def words(self, value: float) -> str:
        return f"reward {value:+g}"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class ShiftedReward(gym.RewardWrapper):
    def reward(self, reward):
        return reward + -0.1

env = ShiftedReward(gym.make("CartPole-v1"))""",
        ),
    )
