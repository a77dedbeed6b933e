"""Spaces of starts that an environment can be given, and what makes an episode in it a failure; Gymnasium's classic control problems.

A start is a row of numbers: the state where it can be set, otherwise the seed of the reset. Nothing here imports gymnasium; the methods
that touch an environment are called with one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.episodes import FELL, NOT_LANDED, NOT_REACHED, NOT_UPRIGHT, Criterion

Rows = NDArray[np.float64]
_MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Space:
    """Base: any environment, its start chosen by the seed of the reset. Others set the state that they name."""

    ids: tuple[str, ...] = ()  # names of environments without their version
    names: tuple[str, ...] = ("seed",)
    lower: tuple[float, ...] = (0.0,)
    upper: tuple[float, ...] = (float(_MOST_SEED),)
    wide_lower: tuple[float, ...] = ()  # a larger range that can still be played; empty: there is none
    wide_upper: tuple[float, ...] = ()
    default: Criterion | None = None
    has_quality: bool = False

    @property
    def is_seeded(self) -> bool:
        return self.names == ("seed",)

    def sample(self, count: int, random: np.random.Generator, wide: bool = False) -> Rows:
        """Starts drawn evenly; those that the environment itself draws from, or from the larger range."""
        if self.is_seeded:
            return random.integers(0, _MOST_SEED, size=(count, 1)).astype(np.float64)
        lower, upper = (
            (self.wide_lower, self.wide_upper) if wide and self.wide_lower else (self.lower, self.upper)
        )
        return np.asarray(random.uniform(lower, upper, size=(count, len(self.names))), dtype=np.float64)

    def put(self, env: Any, start: Rows) -> Any:
        """Set the state of an environment that was just reset; the observation of it. Not called where seeds are starts."""
        raise NotImplementedError

    def read(self, env: Any) -> tuple[float, ...] | None:
        """The start that an environment has just taken by itself; None where it cannot be read."""
        return None

    def quality(self, env: Any) -> float:
        """How well things are under control now, 0 (failed) to 1."""
        return float("nan")

    def words(self, start: Rows) -> str:
        """As a user can paste it: `x=0.031 …`."""
        if self.is_seeded:
            return f"env.reset(seed={int(start[0])})"
        return "env.unwrapped.state = [" + ", ".join(f"{value:.4g}" for value in start) + "]"


class WithState(Space):
    """Environments that keep all there is in `state`."""

    def put(self, env: Any, start: Rows) -> Any:
        env.state = np.array(start, dtype=np.float64)
        return self.observed(env)

    def observed(self, env: Any) -> Any:
        return np.array(env.state, dtype=np.float32)

    def read(self, env: Any) -> tuple[float, ...] | None:
        state = getattr(env, "state", None)
        return None if state is None else tuple(float(value) for value in state)


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


@dataclass(frozen=True)
class LunarLander(Space):
    """Terrain and the first push both follow from the seed of the reset."""

    ids: tuple[str, ...] = ("LunarLander", "LunarLanderContinuous")
    default: Criterion | None = NOT_LANDED


SPACES: tuple[Space, ...] = (CartPole(), MountainCar(), Acrobot(), Pendulum(), LunarLander())


def space_of(id: str) -> Space:
    """Of an id as `CartPole-v1`; the seed is the start where nothing more is known."""
    name = id.rpartition("/")[2].partition("-v")[0]
    return next((space for space in SPACES if name in space.ids), Space())
