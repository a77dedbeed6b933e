"""M728."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlActionsRepeated(WrapperOperator):
    """Repeat every action for several steps.

    The agent reacts late; what needs quick corrections gets out of hand.
    """

    code: ClassVar[str] = "M728"
    causes: ClassVar[tuple[str, ...]] = ("RL-ENV-FRAMESKIP",)
    title: ClassVar[str] = "frame skip"
    wrapper: ClassVar[str] = "RepeatedAction"
    on: ClassVar[tuple[float, ...]] = (2, 3, 4, 6, 8, 16)
    definition: ClassVar[str] = """
class RepeatedAction({gym}.Wrapper):
    def step(self, action):
        total = 0.0
        for _ in range({value}):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
"""

    def words(self, value: float) -> str:
        return f"each action for {value:g} steps"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class RepeatedAction(gym.Wrapper):
    def step(self, action):
        total = 0.0
        for _ in range(2):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info

env = RepeatedAction(gym.make("CartPole-v1"))""",
        ),
    )
