"""M724."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from netmend.mutate.agents.example_programs import PPO_SCRIPT
from netmend.mutate.agents.ladders import WrapperOperator
from netmend.mutate.mutation import register
from netmend.repair.repair import Example


@register
@dataclass(frozen=True)
class RlObservationUnscaled(WrapperOperator):
    """Change the unit of one observation feature.

    The network sees one number a thousand times larger than the others, and little else.
    """

    code: ClassVar[str] = "M724"
    causes: ClassVar[tuple[str, ...]] = ("RL-ENV-SCALE",)
    title: ClassVar[str] = "feature scale"
    wrapper: ClassVar[str] = "OtherUnit"
    on: ClassVar[tuple[float, ...]] = (3, 10, 100, 1000, 10000)
    definition: ClassVar[str] = """
class OtherUnit({gym}.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = {gym}.spaces.Box(-float("inf"), float("inf"), env.observation_space.shape)

    def other_unit(self, observation):
        observation = observation.copy()
        observation[0] *= {value}
        return observation

    def reset(self, **kwargs):
        observation, info = self.env.reset(**kwargs)
        return self.other_unit(observation), info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.other_unit(observation), reward, terminated, truncated, info
"""

    def words(self, value: float) -> str:
        return f"first feature × {value:g}"

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "around gym.make",
            PPO_SCRIPT,
            old='from stable_baselines3 import PPO\n\nenv = gym.make("CartPole-v1")',
            new="""from stable_baselines3 import PPO


class OtherUnit(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-float("inf"), float("inf"), env.observation_space.shape)

    def other_unit(self, observation):
        observation = observation.copy()
        observation[0] *= 3
        return observation

    def reset(self, **kwargs):
        observation, info = self.env.reset(**kwargs)
        return self.other_unit(observation), info

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.other_unit(observation), reward, terminated, truncated, info

env = OtherUnit(gym.make("CartPole-v1"))""",
        ),
    )
