"""Which space belongs to an environment's id."""

from __future__ import annotations

from dataclasses import dataclass

from netmend.mutate.agents.criteria import NOT_LANDED, Criterion
from netmend.mutate.agents.environments.classic import Acrobot, CartPole, MountainCar, Pendulum
from netmend.mutate.agents.environments.space import Space


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
