"""M723."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlObservationHidden(WrapperOperator):
    """Hide a part of the observation.

    Without it two different states look the same: no policy without memory can tell what to do.
    """

    code: ClassVar[str] = "M723"
    causes: ClassVar[tuple[str, ...]] = ("RL-ENV-STATE",)
    title: ClassVar[str] = "hidden features"
    wrapper: ClassVar[str] = "HiddenFeatures"
    on: ClassVar[tuple[float, ...]] = (1, 2, 3)
    definition: ClassVar[str] = """
class HiddenFeatures({gym}.ObservationWrapper):
    def observation(self, observation):
        observation = observation.copy()
        observation[-{value}:] = 0
        return observation
"""

    def words(self, value: float) -> str:
        return "last feature hidden" if value == 1 else f"last {value:g} features hidden"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class HiddenFeatures(gym.ObservationWrapper):
    def observation(self, observation):
        observation = observation.copy()
        observation[-1:] = 0
        return observation

env = HiddenFeatures(gym.make("CartPole-v1"))""",
        ),
    )
