"""M722."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlRewardNoisy(WrapperOperator):
    """Add noise to the reward.

    The agent has to average over many steps to see what pays.
    """

    code: ClassVar[str] = "M722"
    causes: ClassVar[tuple[str, ...]] = ("RL-REW-SUBOPT",)
    published: ClassVar[tuple[str, ...]] = ("RN",)
    title: ClassVar[str] = "reward noise"
    wrapper: ClassVar[str] = "NoisyReward"
    on: ClassVar[tuple[float, ...]] = (0.1, 0.3, 1, 3, 10, 30)
    definition: ClassVar[str] = """
class NoisyReward({gym}.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward + {value} * self.np_random.normal(), terminated, truncated, info
"""

    def words(self, value: float) -> str:
        return f"reward noise of deviation {value:g}"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class NoisyReward(gym.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward + 0.1 * self.np_random.normal(), terminated, truncated, info

env = NoisyReward(gym.make("CartPole-v1"))""",
        ),
    )
