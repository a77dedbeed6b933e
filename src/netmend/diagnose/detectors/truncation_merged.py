"""D716 TruncationMerged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import worlds
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class TruncationMerged:
    """A wrapper turns the time limit's truncation into a termination.

    A terminated state has no future, so its value is taken to be its last reward. A state that was merely cut off does have one: the
    agent learns that states late in an episode are bad, whatever they are. Usual cause: a wrapper that returns `terminated or truncated, False`.
    """

    code: ClassVar[str] = "D716"

    least_ends: int = threshold(1, "exact", "the inner environment said truncated, the outer one terminated")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in worlds(trace):
            if world.merged >= self.least_ends:
                yield Symptom(
                    self.code,
                    f"{world.merged} of {world.episodes} episodes were cut off by a time limit, but the agent was told that they had terminated.",
                    component=world.name,
                    observed=float(world.merged),
                    limit=float(self.least_ends),
                    site=world.stepped,
                    detail={"chain": list(world.chain)},
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("flags passed on", lambda: acted(a_world(truncated=80, terminated=70))),
        Run("no time limit was reached", lambda: acted(a_world())),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("flags merged", lambda: acted(a_world(merged=40))),)
