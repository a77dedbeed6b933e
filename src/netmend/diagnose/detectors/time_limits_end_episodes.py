"""D717 TimeLimitsEndEpisodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class TimeLimitsEndEpisodes:
    """Many episodes are cut off by a time limit rather than ending by themselves.

    That is normal. It matters where a program treats both ends alike: a state that was cut off still has a future, and a target that leaves it out is
    wrong. Diagnosis looks at the source to see whether the program keeps the two apart.
    """

    code: ClassVar[str] = "D717"

    share_limit: float = threshold(
        0.15, "convention", "of the episodes; below it the error in the targets is rare"
    )
    least_ends: int = threshold(3, "convention", "episodes that were cut off")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if world is None or world.truncated < self.least_ends:
            return
        share = world.truncated / max(1, world.episodes)
        if share >= self.share_limit:
            yield Symptom(
                self.code,
                f"{world.truncated} of {world.episodes} episodes were cut off by a time limit.",
                component=world.name,
                observed=share,
                limit=self.share_limit,
                site=world.stepped,
            )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("episodes end by themselves", lambda: acted(a_world(truncated=10))),
        Run("two long episodes", lambda: acted(a_world(truncated=2, episodes=2, terminated=0))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("all are cut off", lambda: acted(a_world(truncated=150, terminated=0))),
    )
