"""M727."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlObservationStale(WrapperOperator):
    """Sometimes give the previous step's observation.

    The agent acts on a state that is no longer there.
    """

    code: ClassVar[str] = "M727"
    causes: ClassVar[tuple[str, ...]] = ("RL-STEP-MISSING",)
    published: ClassVar[tuple[str, ...]] = ("R",)
    title: ClassVar[str] = "stale observations"
    wrapper: ClassVar[str] = "StaleObservation"
    on: ClassVar[tuple[float, ...]] = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
    definition: ClassVar[str] = """
class StaleObservation({gym}.Wrapper):
    def reset(self, **kwargs):
        self.last, info = self.env.reset(**kwargs)
        return self.last, info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self.np_random.random() >= {value}:
            self.last = observation
        return self.last, reward, terminated, truncated, info
"""

    def words(self, value: float) -> str:
        return f"{value:.0%} of the observations not updated"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class StaleObservation(gym.Wrapper):
    def reset(self, **kwargs):
        self.last, info = self.env.reset(**kwargs)
        return self.last, info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self.np_random.random() >= 0.05:
            self.last = observation
        return self.last, reward, terminated, truncated, info

env = StaleObservation(gym.make("CartPole-v1"))""",
        ),
    )
