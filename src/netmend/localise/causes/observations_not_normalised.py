"""RL-NORM-OBS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.rewards import ObservationBadlyScaled
from netmend.localise.case import Case
from netmend.localise.cause import STRONG, fault, for_symptom, register
from netmend.localise.lines.agent_lines import method_of, returned_line
from netmend.unit import Run
from netmend.vocabulary import Fault, WorldFact


@register
class ObservationsNotNormalised:
    """Observations are not normalised.

    A network weighs its inputs alike at the start: a feature of thousands decides alone. Normalise with VecNormalize(norm_obs=True) or
    a wrapper that divides by known ranges, and keep the same statistics for testing.
    """

    code: ClassVar[str] = "RL-NORM-OBS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D714"):
            world = case.trace.get(WorldFact, symptom.component)
            if world is None:
                continue
            method = method_of(world, "observation", "step")
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + 1.5)],
                component=world.name,
                site=returned_line(case.sources, method, 0) or world.created or world.stepped,
                summary=symptom.message,
                reason="The largest feature dominates the output; the others are noise next to it.",
                remedy=f"Divide feature {symptom.detail['feature']} by about {symptom.observed:.2g}, or wrap the environment with VecNormalize "
                "or gymnasium.wrappers.NormalizeObservation.",
                refutation="Scaling the observations to about 1 does not speed up learning.",
                related=[world.created, world.stepped],
                explains=("D714", "D302", "D101", "D103", "D104", "D105", "D722", "D723", "D112"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = ObservationBadlyScaled.FAULTY
