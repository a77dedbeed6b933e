"""M725."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlTruncationAsTermination(WrapperOperator):
    """Report the time limit as a real end.

    The agent learns that good states lead to nothing, because episodes that last are cut there.
    """

    code: ClassVar[str] = "M725"
    causes: ClassVar[tuple[str, ...]] = ("RL-ENV-FLAGS",)
    title: ClassVar[str] = "time limit as an end"
    wrapper: ClassVar[str] = "OneFlag"
    on: ClassVar[tuple[float, ...]] = (1,)
    definition: ClassVar[str] = """
class OneFlag({gym}.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, False, info
"""

    def words(self, value: float) -> str:
        return "truncation reported as termination"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class OneFlag(gym.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, False, info

env = OneFlag(gym.make("CartPole-v1"))""",
        ),
    )
