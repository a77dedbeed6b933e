"""The `gym` that scripts of 2017 to 2022 import, over gymnasium: `reset()` gives an observation, `step()` four values, unless a script takes the newer form.

GYM_API=new keeps gymnasium's own results.
"""

import os

import gymnasium
from gymnasium import spaces

from . import wrappers

NEW = os.environ.get("GYM_API") == "new"
__all__ = ["Env", "Wrapper", "make", "spaces", "wrappers"]
Env, Wrapper = gymnasium.Env, gymnasium.Wrapper
Space = gymnasium.Space


class _Old:
    """An environment with the results of old."""

    def __init__(self, environment):
        self._environment = environment

    def __getattr__(self, name):
        return getattr(self._environment, name)

    def reset(self, **options):
        return self._environment.reset(**options)[0]

    def step(self, action):
        observation, reward, terminated, truncated, info = self._environment.step(action)
        return observation, reward, terminated or truncated, info

    def seed(self, number=None):
        self._environment.reset(seed=number)

    def render(self, *args, **options):
        return None


def make(name, **options):
    name = name.replace("CartPole-v0", "CartPole-v1").replace("Pendulum-v0", "Pendulum-v1")
    options.pop("autoreset", None)
    environment = gymnasium.make(name, **options)
    return environment if NEW else _Old(environment)
