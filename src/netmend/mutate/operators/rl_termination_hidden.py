"""M726."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlTerminationHidden(WrapperOperator):
    """Report a real end as a time limit.

    The value of what would have come after is added at the end: failing looks as good as going on.
    """

    code: ClassVar[str] = "M726"
    causes: ClassVar[tuple[str, ...]] = ("RL-ENV-DONES", "RL-ENV-FLAGS")
    title: ClassVar[str] = "end as a time limit"
    wrapper: ClassVar[str] = "NoEnd"
    on: ClassVar[tuple[float, ...]] = (1,)
    definition: ClassVar[str] = """
class NoEnd({gym}.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, False, terminated or truncated, info
"""

    def words(self, value: float) -> str:
        return "termination reported as truncation"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class NoEnd(gym.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, False, terminated or truncated, info

env = NoEnd(gym.make("CartPole-v1"))""",
        ),
    )
