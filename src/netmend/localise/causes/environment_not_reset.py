"""RL-EXP-RESET."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.episodes import SteppedAfterEnd
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault, WorldFact


@register
class EnvironmentNotReset:
    """The environment is not reset when an episode has ended.

    States and rewards after the end belong to no episode. Call reset() whenever terminated or truncated is true, and take the observation it
    returns as the next state.
    """

    code: ClassVar[str] = "RL-EXP-RESET"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D715"):
            world = case.trace.get(WorldFact, symptom.component)
            if world is None:
                continue
            cut = symptom.detail["truncated"] > symptom.detail["terminated"]
            which = "truncated as well as for terminated" if cut else "terminated and truncated"
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=world.name,
                site=world.stepped,
                summary=symptom.message,
                reason="After an episode ends, the environment continues from states no episode reaches, with meaningless rewards.",
                remedy=f"After this step, check {which} and call `reset()` when one is true.",
                refutation="The environment resets itself.",
                related=[world.reset, world.created],
                explains=("D715", "D711", "D722", "D723", "D717"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = SteppedAfterEnd.FAULTY
