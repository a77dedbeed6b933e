"""D711 RewardConstant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import returns, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace, WorldFact


@register
class RewardConstant:
    """The reward never varied, and neither did the return of whole episodes: nothing tells good actions from bad ones.

    A constant reward is fine where it makes long episodes better (or short ones). Where all episodes also have the same
    return, there is nothing to learn from. Usual causes: a goal that is never reached (sparse reward), a wrapper that throws the reward
    away, a reward function that ends on the same branch every time.
    """

    code: ClassVar[str] = "D711"

    least_steps: int = threshold(500, "convention", "a rare reward may not have been met before")
    least_episodes: int = threshold(4, "convention", "episodes that must agree on their return")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if world is None or world.steps < self.least_steps or world.bad_rewards:
            return
        low, high = world.reward_low, world.reward_high
        if low is None or high is None or high - low > 1e-9 * max(1.0, abs(high)):
            return
        found = returns(trace, world)
        same = len(found) >= self.least_episodes and float(np.ptp(found)) <= 1e-6 * max(
            1.0, abs(float(found[0]))
        )
        never = world.episodes == 0
        if low != 0.0 and not same and not never:
            return
        lost_in = _flattened_by(world)
        text = (
            f"all {len(found)} episodes returned {found[0]:g}"
            if same and len(found)
            else "no episode told them apart"
        )
        inside = f" Inside `{lost_in}` the reward did vary." if lost_in else ""
        yield Symptom(
            self.code,
            f"Each of {world.steps} steps gave the reward {low:g}, and {text if low != 0.0 else 'so no episode is better than another'}.{inside}",
            component=world.name,
            observed=low,
            site=world.stepped,
            detail={"flattened_by": lost_in, "truncated": world.truncated, "episodes": world.episodes},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("a reward per step, episodes of different length", lambda: acted(a_world())),
        Run(
            "a goal that was reached once",
            lambda: acted(a_world(reward_low=-1.0, reward_high=0.0), returns=[-200.0] * 30),
        ),
        Run("too few steps", lambda: acted(a_world(steps=400), returns=[-200.0, -200.0])),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a goal that was never reached",
            lambda: acted(
                a_world(reward_low=-1.0, reward_high=-1.0, reward_mean=-1.0, terminated=0, truncated=150),
                returns=[-200.0] * 30,
            ),
        ),
        Run(
            "no reward at all",
            lambda: acted(a_world(reward_low=0.0, reward_high=0.0, reward_mean=0.0), returns=[0.0] * 30),
        ),
        Run(
            "a wrapper that loses it",
            lambda: acted(
                a_world(
                    reward_low=0.0,
                    reward_high=0.0,
                    reward_ranges=(("Clip", 0.0, 0.0), ("TimeLimit", -3.0, 1.0)),
                ),
                returns=[0.0] * 30,
            ),
        ),
    )


def _flattened_by(world: WorldFact) -> str:
    """The wrapper that returns one value although what it wraps returns several."""
    for (kind, low, high), (_, inner_low, inner_high) in zip(
        world.reward_ranges, world.reward_ranges[1:], strict=False
    ):
        if low == high and inner_low != inner_high:
            return kind
    return ""
