"""Gymnasium's classic control problems: the state is the start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from netmend.mutate.agents.criteria import FELL, NOT_REACHED, NOT_UPRIGHT, Criterion
from netmend.mutate.agents.environments.space import WithState


@dataclass(frozen=True)
class CartPole(WithState):
    """A pole on a cart; quality as µPRL measures it: how far cart and pole are from their limits."""

    ids: tuple[str, ...] = ("CartPole",)
    names: tuple[str, ...] = ("x", "x'", "θ", "θ'")
    lower: tuple[float, ...] = (-0.05,) * 4
    upper: tuple[float, ...] = (0.05,) * 4
    wide_lower: tuple[float, ...] = (-1.0, -0.4, -0.1, -0.4)
    wide_upper: tuple[float, ...] = (1.0, 0.4, 0.1, 0.4)
    default: Criterion | None = FELL
    has_quality: bool = True

    def quality(self, env: Any) -> float:
        x, _, angle, _ = env.state
        place = 1 - abs(float(x)) / env.x_threshold
        upright = 1 - abs(float(angle)) / env.theta_threshold_radians
        return max(0.0, float(min(place, upright)))


@dataclass(frozen=True)
class MountainCar(WithState):
    ids: tuple[str, ...] = ("MountainCar", "MountainCarContinuous")
    names: tuple[str, ...] = ("position", "velocity")
    lower: tuple[float, ...] = (-0.6, 0.0)
    upper: tuple[float, ...] = (-0.4, 0.0)
    wide_lower: tuple[float, ...] = (-1.1, -0.03)
    wide_upper: tuple[float, ...] = (0.3, 0.03)
    default: Criterion | None = NOT_REACHED


@dataclass(frozen=True)
class Acrobot(WithState):
    ids: tuple[str, ...] = ("Acrobot",)
    names: tuple[str, ...] = ("θ1", "θ2", "θ1'", "θ2'")
    lower: tuple[float, ...] = (-0.1,) * 4
    upper: tuple[float, ...] = (0.1,) * 4
    wide_lower: tuple[float, ...] = (-1.0, -1.0, -1.0, -1.0)
    wide_upper: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    default: Criterion | None = NOT_REACHED

    def observed(self, env: Any) -> Any:
        return env._get_ob()


@dataclass(frozen=True)
class Pendulum(WithState):
    ids: tuple[str, ...] = ("Pendulum",)
    names: tuple[str, ...] = ("θ", "θ'")
    lower: tuple[float, ...] = (-math.pi, -1.0)
    upper: tuple[float, ...] = (math.pi, 1.0)
    wide_lower: tuple[float, ...] = (-math.pi, -6.0)
    wide_upper: tuple[float, ...] = (math.pi, 6.0)
    default: Criterion | None = NOT_UPRIGHT
    has_quality: bool = True

    def observed(self, env: Any) -> Any:
        env.last_u = None
        return env._get_obs()

    def quality(self, env: Any) -> float:
        return float(1 + np.cos(env.state[0])) / 2
