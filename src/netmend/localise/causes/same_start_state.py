"""RL-FA-START-STATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.episodes import SameStart
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault, WorldFact


@register
class SameStartState:
    """Every episode starts in the same state.

    What is learned holds for one episode. Give a seed to the first reset only, so that later episodes draw their own start.
    """

    code: ClassVar[str] = "RL-FA-START-STATE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D718"):
            world = case.trace.get(WorldFact, symptom.component)
            if world is not None:
                yield fault(
                    self.code,
                    [for_symptom(symptom, PROVEN)],
                    component=world.name,
                    site=world.reset or world.stepped,
                    summary=symptom.message,
                    reason="The agent memorises one episode and fails from other starting states.",
                    remedy="Pass `seed=` only to the first `reset`, before the loop.",
                    refutation="The environment has only one starting state.",
                    related=[world.stepped],
                    explains=("D718", "D711"),
                )

    FAULTY: ClassVar[tuple[Run, ...]] = SameStart.FAULTY
