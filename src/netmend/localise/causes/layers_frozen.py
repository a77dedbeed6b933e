"""LOOP-FREEZE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detectors import frozen_parameters
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, outcome
from netmend.localise.lines import freezing
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault


@register
@dataclass(frozen=True)
class LayersFrozen:
    """Layers that should learn are frozen at their random start.

    Freezing saves time where layers were trained before. Random layers that stay random throw information away.
    Take the freezing away, or load the weights that were meant to be frozen.
    """

    code: ClassVar[str] = "LOOP-FREEZE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D220"):
            layers = list(symptom.detail["layers"])
            evidence = [for_symptom(symptom, WEAK), *outcome(case, bad=FAIR + WEAK, good=-STRONG)]
            if float(symptom.detail["share"]) >= 0.5:
                evidence.append(Evidence("They are more than half of the model.", WEAK))
            if symptom.detail["resting"]:
                told = "They are in evaluation mode while the rest is trained: somebody chose that."
                evidence.append(Evidence(told, -FAIR - WEAK))
            if symptom.detail["adapted"]:
                evidence.append(
                    Evidence("Trainable parameters stand beside them: they are adapted.", -FAIR - WEAK)
                )
            words = tuple(part for name in layers for part in name.split(".")[1:2])
            line = freezing(case.sources, case.trace.run.script, words)
            yield fault(
                self.code,
                evidence,
                component=layers[0],
                site=line or symptom.site,
                summary=symptom.message,
                reason="Frozen random layers pass on an arbitrary mixture of the input and cannot be improved.",
                remedy=f"Do not freeze {', '.join(layers[:2])}, or load trained weights before freezing.",
                refutation="Random features that are meant to stay random.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D120"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = frozen_parameters.FrozenParameters.FAULTY
