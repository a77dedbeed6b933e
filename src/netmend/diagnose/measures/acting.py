"""Acting: whether a program learns by acting in environments, figures of its episodes, and what is unusual about its agents' settings.

Such a program makes its own data. Its targets move with its estimates, its batches follow each other in time, its loss rises while it
gets better, and rates are smaller than in supervised learning: what detectors say about a fixed data set does not hold for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Unusual:
    name: str
    value: float
    limit: float
    leaf: str
    why: str
    better: str  # what to write instead


# Ranges are those that the RL Zoo samples when it tunes (rl_zoo3, hyperparams_opt.py) and that µPRL draws mutants from, widened so that
# a deliberate choice near the border stays silent: the setting, lowest, highest, leaf below, leaf above, reason below, reason above, what to write
_RANGES: dict[str, tuple[float, float, str, str, str, str, str]] = {
    "gamma": (0.8, 1.0, "RL-GAMMA", "RL-GAMMA", "rewards more than a few steps ahead count for nothing", "values grow without bound", "0.99"),
    "ent_coef": (0.0, 0.3, "RL-REG-ENTROPY", "RL-REG-ENTROPY", "a negative coefficient rewards a policy for being certain", "being random is worth more than the reward", "0.01"),
    "vf_coef": (0.0, 5.0, "RL-NET-BALANCE", "RL-NET-BALANCE", "the value network is pushed away from its targets", "the value loss drowns that of the policy", "0.5"),
    "max_grad_norm": (1e-3, 100.0, "OPT-CLIP", "RL-FA-CLIP", "clipping takes nearly all of the gradient away", "gradients of the policy are practically not clipped", "0.5"),
    "clip_range": (0.01, 0.9, "RL-FA-CLIP", "RL-FA-CLIP", "the policy may practically not change", "the policy may change without limit in one update", "0.2"),
    "exploration_final_eps": (0.0, 0.4, "RL-EXP-MIN", "RL-EXP-MIN", "", "that share of the actions stays random until the end", "0.05"),
    "exploration_initial_eps": (0.2, 1.0, "RL-EXP-EPS", "RL-EXP-EPS", "the agent hardly explores, not even at the start", "", "1.0"),
    "learning_rate": (3e-6, 0.03, "HYP-LR-LOW", "HYP-LR-HIGH", "updates this small change nothing within the run", "updates this large throw away what was learned", "3e-4"),
}  # fmt: skip
_SOFT = ("SAC", "TD3", "DDPG", "TQC", "CrossQ", "REDQ", "DroQ")
_NOISY = ("TD3", "DDPG")


def judged(agent: AgentFact) -> Iterator[Unusual]:
    """Everything unusual about an agent's settings."""
    for name, (low, high, below, above, little, much, better) in _RANGES.items():
        value = _number(agent, name)
        if value is None:
            continue
        if value < low:
            yield Unusual(name, value, low, below, little, better)
        elif value > high:
            yield Unusual(name, value, high, above, much, better)
    yield from _relative(agent)


def _relative(agent: AgentFact) -> Iterator[Unusual]:
    """Settings that are large or small compared with the run or with each other."""
    steps = _number(agent, "n_steps")
    if agent.kind in ("PPO", "RecurrentPPO", "MaskablePPO", "TRPO") and steps and steps * agent.copies < 24:
        why = f"each update sees {int(steps * agent.copies)} steps only"
        yield Unusual("n_steps", steps, 24 / agent.copies, "RL-FA-ROLLOUT", why, "128 or more")
    size, least = _number(agent, "buffer_size"), max(500.0, 4 * (_number(agent, "batch_size") or 1))
    if agent.buffer_filled is not None and size and size < min(0.2 * agent.timesteps, least):
        why = f"of {agent.timesteps} steps only the last {size:g} can be learned from"
        yield Unusual("buffer_size", size, least, "RL-BUF-SIZE", why, "10_000 or more")
    fraction = _number(agent, "exploration_fraction")
    if fraction is not None and 0 <= fraction * agent.planned < min(100.0, 0.02 * agent.planned):
        why = f"random actions end after {fraction * agent.planned:.0f} of {agent.planned} steps"
        yield Unusual("exploration_fraction", fraction, 0.02, "RL-EXP-DECAY", why, "0.1 or more")
    tau = _number(agent, "tau")
    if agent.kind in _SOFT and tau is not None and tau > 0.3:
        why = "the target network follows the trained one practically at once"
        yield Unusual("tau", tau, 0.3, "RL-NET-TAU", why, "0.005")
    yield from _noise(agent)


def _noise(agent: AgentFact) -> Iterator[Unusual]:
    if agent.kind not in _NOISY or "action_noise" not in agent.settings:
        return
    sigma = agent.settings["action_noise"]
    start = _number(agent, "learning_starts") or 0.0
    if sigma is None and start < 0.3 * agent.timesteps:
        why, better = (
            "the policy is deterministic and nothing is added to it",
            "NormalActionNoise with a scale of 0.1",
        )
        yield Unusual("action_noise", 0.0, 0.0, "RL-EXP-MISSING", why, better)
    elif isinstance(sigma, float | int) and sigma <= 1e-3:
        why = "the noise on actions is practically zero"
        yield Unusual("action_noise", float(sigma), 1e-3, "RL-EXP-NOISE", why, "a scale of 0.1")
    elif isinstance(sigma, float | int) and sigma >= 2.0:
        why = "the noise is larger than the range of actions"
        yield Unusual("action_noise", float(sigma), 2.0, "RL-EXP-NOISE", why, "a scale of 0.1")


def _number(agent: AgentFact, name: str) -> float | None:
    value = agent.settings.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
