"""D722 ActionsCollapse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import agents, improved, returns, training_world
from netmend.diagnose.measures.acting_examples import a_world, acted, an_agent
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class ActionsCollapse:
    """The policy has collapsed: it takes one action practically always, without having got better.

    An agent that no longer tries anything else cannot find out that it is wrong. Usual causes: a learning rate that is too high, an entropy
    coefficient below zero, no exploration, advantages with the wrong sign.
    """

    code: ClassVar[str] = "D722"

    share_limit: float = threshold(
        0.985,
        "calibrated",
        "of the commonest action in the last stretches; random actions of 5 % keep it below 0.975",
    )
    entropy_limit: float = threshold(0.03, "calibrated", "last entropy over that of a uniform choice")
    stretches: int = threshold(3, "convention", "of 256 steps each, at the end")
    gain_limit: float = threshold(
        0.5, "convention", "rise of the return in standard deviations from which on the agent has got better"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        seen = self.extremes(trace)
        if world is None or not seen or improved(returns(trace, world)) > self.gain_limit:
            return
        share, entropy = seen.get("share_limit", 0.0), seen.get("entropy_limit", math.inf)
        if share < self.share_limit and entropy > self.entropy_limit:
            return
        text = (
            f"In the last {256 * self.stretches} steps {share:.1%} of the actions were the same"
            if share >= self.share_limit
            else f"The entropy of the policy fell to {entropy:.1%} of that of a random choice"
        )
        shares = trace.table("behaviour", world.name).known("top_action_share")[1]
        yield Symptom(
            self.code,
            f"{text}, and the return did not rise.",
            component=world.name,
            observed=share,
            limit=self.share_limit,
            site=world.stepped,
            detail={"from_start": bool(len(shares) and shares[0] >= self.share_limit), "entropy": entropy},
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        world = training_world(trace)
        if world is None or world.actions < 2 or not trace.run.steps:
            return {}
        found: dict[str, float] = {}
        shares = trace.table("behaviour", world.name).known("top_action_share")[1]
        if len(shares) >= self.stretches + 1:
            found["share_limit"] = float(np.min(shares[-self.stretches :]))
        for agent in agents(trace):
            entropies = trace.series("agent", agent.name, "entropy")[1]
            if len(entropies) >= self.stretches and agent.actions > 1:
                found["entropy_limit"] = float(np.mean(entropies[-self.stretches :])) / math.log(
                    agent.actions
                )
        return found

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("tries both", lambda: acted(a_world(), an_agent(), looks=[{"entropy": 0.5}] * 10)),
        Run(
            "sure of itself and better", lambda: acted(a_world(), an_agent(), looks=[{"entropy": 0.01}] * 10)
        ),
        Run(
            "greedy but for 5 %", lambda: acted(a_world(), behaviour=[0.975] * 12, returns=[10.0, 11.0] * 30)
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "one action only",
            lambda: acted(
                a_world(), behaviour=[0.6, 0.8, *[0.999] * 10], returns=[20.0, 21.0] * 10 + [9.0, 10.0] * 20
            ),
        ),
        Run(
            "no entropy left",
            lambda: acted(
                a_world(),
                an_agent(),
                looks=[{"entropy": 0.69}, *[{"entropy": 0.001}] * 9],
                returns=[9.0, 10.0] * 30,
            ),
        ),
    )
