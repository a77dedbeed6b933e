"""LOOP-FREEZE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.frozen import FrozenLate, FrozenParameters
from netmend.diagnose.detectors.optimizer_parameters import IdleOptimizer
from netmend.diagnose.measures.wiring import forgotten_models
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING, outcome
from netmend.localise.lines.blocks import freezing
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault


@register
class LayersFrozen:
    """What is frozen is not what was meant: layers that should learn are, or layers that should rest are not.

    Freezing saves time where layers were trained before. Random layers that stay random throw information away, and an optimiser all of whose
    parameters are frozen does nothing. Freezing inside a model's own train() happens only when train() is called.
    Freeze the right part, once, before the optimiser is made; load the weights that are to be frozen.
    """

    code: ClassVar[str] = "LOOP-FREEZE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._all_that_is_trained(case)
        yield from self._too_late(case)
        for symptom in case.of("D220"):
            layers = list(symptom.detail["layers"])
            evidence = [for_symptom(symptom, WEAK), *outcome(case, bad=FAIR + WEAK, good=-STRONG)]
            if float(symptom.detail["share"]) >= 0.5:
                evidence.append(Evidence("They are more than half of the model.", WEAK))
            if symptom.detail["resting"]:
                told = "They are in evaluation mode while the rest is trained, so this is deliberate."
                evidence.append(Evidence(told, -FAIR - WEAK))
            if symptom.detail["adapted"]:
                evidence.append(
                    Evidence("They have trainable parameters next to them (adapters).", -FAIR - WEAK)
                )
            words = tuple(part for name in layers for part in name.split(".")[1:2])
            line = freezing(case.sources, case.trace.run.script, words)
            yield fault(
                self.code,
                evidence,
                component=layers[0],
                site=line or symptom.site,
                summary=symptom.message,
                reason="Frozen random layers scramble the input, and training cannot improve them.",
                remedy=f"Do not freeze {', '.join(layers[:2])}, or load trained weights before freezing.",
                refutation="The features are random on purpose.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D120"),
            )

    def _all_that_is_trained(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D228"):
            frozen = list(symptom.detail["frozen"])
            if len(frozen) != symptom.detail["count"] or forgotten_models(case.trace):
                continue  # the optimiser holds the wrong network: see optimizer_parameters
            words = tuple(part for name in frozen for part in name.split(".")[1:2])
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + FAIR)],
                component=frozen[0].rpartition(".")[0],
                site=freezing(case.sources, case.trace.run.script, words) or symptom.site,
                summary=symptom.message,
                reason="Nothing is left for the optimiser to train; only running averages still change.",
                remedy=f"Let the parameters of `{symptom.component}` require gradients: freeze first, then create or unfreeze the part "
                "to train.",
                refutation="The optimiser is for a later part of the program.",
                related=[symptom.site],
                explains=(*NOT_LEARNING, "D213", "D214", "D220", "D502"),
            )

    def _too_late(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D230"):
            name = symptom.detail["class"]
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason=f"A new model is already in training mode; `{name}.train()` is never called, so the part it freezes was trained.",
                remedy=f"Freeze in the `__init__` of {name} too, or call `train()` before the first step.",
                refutation="These parts are trained first and frozen later on purpose.",
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *FrozenParameters.FAULTY,
        *IdleOptimizer.FAULTY[:1],
        *FrozenLate.FAULTY,
    )
