"""RL-REW-NORM-MISS."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.rewards import RewardBadlyScaled
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import method_of, returned_line
from netmend.unit import Run
from netmend.vocabulary import Fault, WorldFact


@register
class RewardsNotScaled:
    """Rewards are not scaled.

    The error of the value estimates grows with the square of the rewards; gradients of that size leave no room for the policy. Divide the reward so that
    returns are of the order of one to a hundred, or wrap the environments with VecNormalize(norm_reward=True).
    """

    code: ClassVar[str] = "RL-REW-NORM-MISS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D713"):
            world = case.trace.get(WorldFact, symptom.component)
            if world is None:
                continue
            method = method_of(world, "reward", "step")
            size = symptom.observed or 1.0
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + 1.0)],
                component=world.name,
                site=returned_line(case.sources, method, 1) or world.created or world.stepped,
                summary=symptom.message,
                reason="The value network cannot follow targets this large, and its error drowns out the policy's signal.",
                remedy=f"Divide the reward by about {10 ** round(math.log10(size)):g}, or use VecNormalize(norm_reward=True).",
                refutation="Scaling the rewards to about 1 does not speed up learning.",
                related=[world.created, world.stepped],
                explains=("D713", "D723", "D722", "D101", "D103", "D110", "D111", "D302"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = RewardBadlyScaled.FAULTY
