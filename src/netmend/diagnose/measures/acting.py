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
FIXED_DATA = frozenset(
    {
        "D102", "D106", "D107", "D109", "D113", "D114", "D115", "D125", "D130",  # sizes of steps, signals and weights
        "D302", "D303", "D305", "D307", "D308", "D309", "D310", "D311", "D312", "D313", "D314", "D318", "D319", "D320", "D321",  # data
        "D401", "D403", "D404", "D405", "D406", "D409", "D410", "D412", "D413", "D415", "D416",  # what the loss is given
        "D501", "D502", "D503", "D504", "D505", "D506", "D507", "D508", "D509", "D510", "D511", "D512",  # curves
        "D206", "D205", "D224", "D226", "D228",  # policies of libraries act in evaluation mode, unused heads are normal
    }
)  # fmt: skip


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


def applies(code: str, trace: Trace) -> bool:
    """Whether a detector's question makes sense for this run."""
    return code not in FIXED_DATA or not acts(trace)


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
