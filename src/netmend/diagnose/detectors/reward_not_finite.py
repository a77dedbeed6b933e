"""D712 RewardNotFinite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run
from netmend.vocabulary import Symptom, Trace, WorldFact


@register
class RewardNotFinite:
    """An environment gave rewards that are not numbers, or infinite.

    One of them makes every value estimate that it reaches useless. Usual causes: a logarithm or quotient of a distance that becomes zero, a
    branch of the reward function that was forgotten.
    """

    code: ClassVar[str] = "D712"

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in trace.all(WorldFact):  # a single one of them may end the run
            if world.bad_rewards:
                yield Symptom(
                    self.code,
                    f"{world.bad_rewards} of {world.steps} rewards were infinite or NaN.",
                    component=world.name,
                    observed=float(world.bad_rewards),
                    limit=0.0,
                    site=world.stepped,
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("finite rewards, large ones among them", lambda: acted(a_world(reward_high=1e6))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("a reward of NaN", lambda: acted(a_world(bad_rewards=3))),)
