"""M711."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlStartFixed(WrapperOperator):
    """Start every episode from one of a few states.

    What the agent has never started from, it may not know how to handle.
    """

    code: ClassVar[str] = "M711"
    causes: ClassVar[tuple[str, ...]] = ("RL-FA-START-STATE",)
    published: ClassVar[tuple[str, ...]] = ("NRS",)
    title: ClassVar[str] = "few start states"
    wrapper: ClassVar[str] = "SameStart"
    on: ClassVar[tuple[float, ...]] = (100, 20, 5, 2, 1)
    definition: ClassVar[str] = """
class SameStart({gym}.Wrapper):
    episodes = 0

    def reset(self, *, seed=None, options=None):
        self.episodes += 1
        return self.env.reset(seed=self.episodes % {value}, options=options)
"""

    def words(self, value: float) -> str:
        return f"{value:g} start states" if value > 1 else "one start state"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class SameStart(gym.Wrapper):
    episodes = 0

    def reset(self, *, seed=None, options=None):
        self.episodes += 1
        return self.env.reset(seed=self.episodes % 100, options=options)

env = SameStart(gym.make("CartPole-v1"))""",
        ),
    )
