"""D713 RewardBadlyScaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, reward_size, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.diagnose.measures.examples import flat
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Table, Trace


@register
class RewardBadlyScaled:
    """Rewards are so large that the error of the value estimates drowns everything else.

    The value network starts with answers near zero and has to reach sums of rewards; with rewards of thousands its error and gradients
    are huge from the first update on. Usual causes: a raw score or a cost in small units as reward, a factor too many.
    """

    code: ClassVar[str] = "D713"

    size_limit: float = threshold(
        60.0, "calibrated", "root mean square of the rewards; healthy programs stay below 10 (Pendulum: 8)"
    )
    loss_limit: float = threshold(
        1000.0,
        "calibrated",
        "a hand-written loss that is smaller was computed from rewards that the program scales itself",
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or seen.get("size_limit", 0.0) <= self.size_limit:
            return
        if seen.get("loss_limit", 0.0) <= self.loss_limit:
            return
        yield Symptom(
            self.code,
            f"Rewards have a root mean square of {seen['size_limit']:.3g} (from {world.reward_low:.3g} to {world.reward_high:.3g}) "
            f"and reach the value estimates unscaled.",
            component=world.name,
            observed=seen["size_limit"],
            limit=self.size_limit,
            site=world.stepped,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or not world.steps:
            return {}
        known = agents(trace)
        if known:
            if known[0].rewards_normalised:
                return {}
            return {"size_limit": reward_size(world), "loss_limit": float("inf")}
        losses = np.abs(trace.loss[1])
        losses = losses[np.isfinite(losses)]
        return {
            "size_limit": reward_size(world),
            "loss_limit": float(np.median(losses)) if len(losses) else 0.0,
        }

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run(
            "rewards of a swinging pendulum",
            lambda: acted(a_world(reward_mean=-6.0, reward_std=3.0), an_agent()),
        ),
        Run(
            "large rewards that are normalised",
            lambda: acted(a_world(reward_mean=1000.0), an_agent(rewards_normalised=True)),
        ),
        Run("large rewards that the program scales itself", lambda: acted(a_world(reward_mean=1000.0))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("a score as reward", lambda: acted(a_world(reward_mean=1000.0), an_agent())),
        Run(
            "a hand-written loop",
            lambda: acted(
                a_world(reward_mean=-900.0),
                more=[Table.of("step", "optimizer", {n: (v, 1.0) for n, v in enumerate(flat(400, 1e6))})],
            ),
        ),
    )
