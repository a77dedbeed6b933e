"""Acting: whether a program learns by acting in environments, and figures of its episodes.

Such a program makes its own data. Its targets move with its estimates, its batches follow each other in time, its loss rises while it
gets better, and rates are smaller than in supervised learning: what detectors say about a fixed data set does not hold for it.
"""

from __future__ import annotations

import math

import numpy as np

from netmend.vocabulary import AgentFact, Trace, WorldFact
from netmend.vocabulary.table import FloatArray

LEAST_STEPS = 100  # environment steps from which on a program counts as one that acts


def worlds(trace: Trace) -> tuple[WorldFact, ...]:
    """Environments that were really used, the one with most steps first."""
    found = [world for world in trace.all(WorldFact) if world.steps >= LEAST_STEPS]
    return tuple(sorted(found, key=lambda world: -world.steps))


def agents(trace: Trace) -> tuple[AgentFact, ...]:
    """Agents of a library that were trained or should have been."""
    return tuple(agent for agent in trace.all(AgentFact) if agent.planned)


def acts(trace: Trace) -> bool:
    return bool(worlds(trace) or agents(trace))


def training_world(trace: Trace) -> WorldFact | None:
    """The environment in which the program learns: most steps are taken there."""
    return next(iter(worlds(trace)), None)


def returns(trace: Trace, world: WorldFact) -> FloatArray:
    """The return of every episode that was kept, in order."""
    return trace.table("episode", world.name).column("return")


def lengths(trace: Trace, world: WorldFact) -> FloatArray:
    return trace.table("episode", world.name).column("length")


def improved(values: FloatArray) -> float:
    """Mean of the last third of the episodes over that of the first third, in standard deviations of the first."""
    third = len(values) // 3
    if third < 3:
        return 0.0
    first, last = values[:third], values[-third:]
    return float((last.mean() - first.mean()) / (first.std() + 1e-6 * (1 + abs(first.mean()))))


def reward_size(world: WorldFact) -> float:
    """Root mean square of the rewards."""
    return math.hypot(world.reward_mean or 0.0, world.reward_std or 0.0)


def largest_reward(world: WorldFact) -> float:
    return max(abs(world.reward_low or 0.0), abs(world.reward_high or 0.0))


def largest_input(trace: Trace) -> float | None:
    """The largest number that a model was given; None where no input was looked at."""
    found = [
        float(np.nanmax(np.abs(values)))
        for table in trace.tables_of("input")
        for column in ("minimum", "maximum")
        if len(values := table.known(column)[1])
    ]
    return max(found, default=None)
