"""D718 SameStart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import training_world
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class SameStart:
    """Every episode is reset with the same seed and starts in the same state.

    The agent learns one episode by heart and fails from any other start. Usual cause: `reset(seed=…)` within the loop; a seed belongs
    to the first reset only.
    """

    code: ClassVar[str] = "D718"

    least_resets: int = threshold(5, "convention", "episodes that must have started alike")
    share_limit: float = threshold(0.9, "convention", "of the resets; the first one has none to compare with")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        world = training_world(trace)
        if (
            world is None
            or world.same_starts < self.least_resets
            or world.same_starts < self.share_limit * world.resets
        ):
            return
        yield Symptom(
            self.code,
            f"{world.same_starts} of {world.resets} episodes were reset with the previous episode's seed and started in the same state.",
            component=world.name,
            observed=float(world.same_starts),
            limit=float(self.least_resets),
            site=world.reset or world.stepped,
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("a seed for the first episode only", lambda: acted(a_world(seeded_resets=1))),
        Run("a new seed for each episode", lambda: acted(a_world(seeded_resets=150))),
        Run("some episodes repeated", lambda: acted(a_world(seeded_resets=20, same_starts=19))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("one seed for all", lambda: acted(a_world(seeded_resets=150, same_starts=149))),
    )
