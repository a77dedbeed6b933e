"""M709."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlRewardSparse(WrapperOperator):
    """Give the reward only once in a while.

    The sum is the same, but which action earned it is hard to tell.
    """

    code: ClassVar[str] = "M709"
    causes: ClassVar[tuple[str, ...]] = ("RL-REW-SPARSE",)
    published: ClassVar[tuple[str, ...]] = ("SPR",)
    title: ClassVar[str] = "sparse reward"
    wrapper: ClassVar[str] = "LateReward"
    on: ClassVar[tuple[float, ...]] = (2, 5, 10, 20, 50, 100, 100000)
    definition: ClassVar[str] = """
class LateReward({gym}.Wrapper):
    def reset(self, **kwargs):
        self.owed, self.steps = 0.0, 0
        return self.env.reset(**kwargs)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.owed, self.steps = self.owed + reward, self.steps + 1
        if self.steps % {value} and not (terminated or truncated):
            return observation, 0.0, terminated, truncated, info
        paid, self.owed = self.owed, 0.0
        return observation, paid, terminated, truncated, info
"""

    def words(self, value: float) -> str:
        return f"reward paid every {value:g} steps"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class LateReward(gym.Wrapper):
    def reset(self, **kwargs):
        self.owed, self.steps = 0.0, 0
        return self.env.reset(**kwargs)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.owed, self.steps = self.owed + reward, self.steps + 1
        if self.steps % 2 and not (terminated or truncated):
            return observation, 0.0, terminated, truncated, info
        paid, self.owed = self.owed, 0.0
        return observation, paid, terminated, truncated, info

env = LateReward(gym.make("CartPole-v1"))""",
        ),
    )
