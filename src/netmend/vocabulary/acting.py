"""What is known about a program that learns by acting: the environments it acts in, and the agents of libraries.

Counts of an environment are steps of that environment, not optimiser steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netmend.vocabulary.site import Site


@dataclass(frozen=True)
class WorldFact:
    """An environment as the loop at one line sees it, summed over its copies and episodes.

    "Seen" is what the outermost wrapper returns: what the program itself is given.
    """

    name: str  # "CartPole-v1@train.py:31"
    kind: str = ""  # the registered id, else the class of the innermost environment
    chain: tuple[str, ...] = ()  # classes from the outermost wrapper inwards
    # methods of the program's own wrappers and environments; `function` names them
    own: tuple[Site, ...] = ()
    created: Site | None = None
    stepped: Site | None = None
    reset: Site | None = None
    copies: int = 0
    steps: int = 0
    resets: int = 0
    seeded_resets: int = 0  # resets that were given a seed
    same_starts: int = 0  # of those: the seed and the first observation were those of the episode before
    episodes: int = 0  # that came to an end
    terminated: int = 0
    truncated: int = 0
    merged: int = 0  # ends that an inner wrapper called truncation and the outermost termination
    after_end: int = 0  # steps taken after an episode's end, without a reset
    # steps taken when the first optimiser step came; None: no step followed one
    steps_before_learning: int | None = None
    time_limit: int | None = None  # most steps of an episode, where registered
    actions: int = 0  # how many there are to choose from; 0 when they are continuous
    observation_shape: tuple[int, ...] = ()
    observation_type: str = ""
    feature_rms: tuple[float, ...] = ()  # root mean square of each feature, at most 64 of them
    feature_low: tuple[float, ...] = ()
    feature_high: tuple[float, ...] = ()
    bad_observations: int = 0  # looks at which an observation was not finite
    bad_rewards: int = 0
    reward_mean: float | None = None
    reward_std: float | None = None
    reward_low: float | None = None
    reward_high: float | None = None
    # class, lowest and highest reward that it returned, the outermost wrapper first
    reward_ranges: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class AgentFact:
    """An agent that a library trains: its algorithm, its settings, how far it came."""

    name: str  # "PPO@train.py:12"
    kind: str = ""  # class: "PPO"
    settings: Mapping[str, Any] = field(default_factory=dict)
    created: Site | None = None
    learned: Site | None = None  # the call that trains it
    planned: int = 0  # environment steps asked for
    timesteps: int = 0  # environment steps taken
    trainings: int = 0  # how often the library trained on what was gathered
    updates: int = 0  # gradient updates as the library counts them
    copies: int = 1  # environments side by side
    actions: int = 0  # how many there are to choose from; 0 when they are continuous
    buffer_filled: int | None = None  # transitions in the replay buffer at the end
    target_looks: int = 0  # trainings before and after which the target network was looked at
    target_changes: int = 0  # of those, how often it had changed since the look before
    target_equal: int = 0  # of those, how often it was the same as the network that is trained
    observations_normalised: bool = False
    rewards_normalised: bool = False
