"""D715 SteppedAfterEnd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.acting import worlds
from netmend.diagnose.measures.acting_examples import a_world, acted
from netmend.unit import Run, threshold
from netmend.vocabulary import Symptom, Trace


@register
class SteppedAfterEnd:
    """Steps are taken after an episode has ended, without a reset.

    What an environment returns then is undefined: most go on from the last state, with rewards that mean nothing. Usual causes: reset
    forgotten, the end looked for in `terminated` alone although time limits end episodes too.
    """

    code: ClassVar[str] = "D715"

    least_steps: int = threshold(
        3, "convention", "one step too many at the very end of a program harms nobody"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for world in worlds(trace):
            if world.after_end >= self.least_steps:
                share = world.after_end / world.steps
                yield Symptom(
                    self.code,
                    f"{world.after_end} of {world.steps}steps ({share:.0%}) were taken after an episode had ended, without a reset.",
                    component=world.name,
                    observed=float(world.after_end),
                    limit=float(self.least_steps),
                    site=world.stepped,
                    detail={
                        "truncated": world.truncated,
                        "terminated": world.terminated,
                        "resets": world.resets,
                    },
                )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("reset after every end", lambda: acted(a_world())),
        Run("one step at the end of the program", lambda: acted(a_world(after_end=1))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("never reset", lambda: acted(a_world(after_end=3200, resets=0))),
    )
