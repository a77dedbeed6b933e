"""API-CALL-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.norm_statistics import NormNotEstimated
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.effects import ANY, outcome
from netmend.localise.lines.skipped_initialiser import Held, Initialiser, initialiser_of
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, ModuleFact, Symptom, Trace


@register
class CallMissing:
    """Something that must run before training or evaluation has not run.

    A spectrally normalised layer knows the size of its weights only after a training pass; a parameter for which the program has an initialiser
    keeps its place-holder where that initialiser is skipped.
    Make the call, or use an interface that does not depend on it.
    """

    code: ClassVar[str] = "API-CALL-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D231"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Its weights were divided by a norm estimate that is still random, so this evaluation used weights that are "
                "far too large.",
                remedy="Use `torch.nn.utils.parametrizations.spectral_norm`, which estimates the norm when it is applied, or make a pass in "
                "`train()` mode first.",
                refutation="The result of this evaluation is not used.",
                explains=ANY,
            )
        for symptom in case.of("D124"):
            attribute, kind = str(symptom.detail["attribute"]), str(symptom.detail["class"])
            if _has_run(case.trace, attribute, kind):
                continue
            held = Held(attribute, kind, symptom.component.rpartition(".")[0])
            initialiser = initialiser_of(case.sources, case.trace.run.script, held)
            if initialiser is not None and initialiser.site.short not in _lines_run(case.trace):
                yield self._skipped(case, symptom, initialiser)

    def _skipped(self, case: Case, symptom: Symptom, initialiser: Initialiser) -> Fault:
        """A parameter that stands at its place-holder although there is a line that would fill it."""
        place = initialiser.condition or initialiser.site
        evidence = [
            for_symptom(symptom, WEAK),
            Evidence(f"{initialiser.site.short} would set other values, but has not run.", STRONG + FAIR),
            *outcome(case, bad=FAIR, good=-WEAK),
        ]
        if initialiser.chosen:
            evidence.append(Evidence("The other branch handles it too, so this is a choice.", -STRONG - FAIR))
        name = symptom.component.rpartition(".")[2]
        return fault(
            "ARC-INIT-BIAS" if symptom.detail["vector"] else "ARC-INIT-WEIGHT",
            evidence,
            component=symptom.component,
            site=place,
            summary=f"{symptom.message} Its initialiser in {initialiser.site.short} was skipped.",
            reason="The layer never received its starting values and still holds a placeholder.",
            remedy=f"Run the initialiser of `{name}` in {place.short} whichever way the model is built.",
            refutation="This parameter is constant at the start on purpose.",
            related=[initialiser.site, symptom.site],
            explains=(*ANY, "D113"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = NormNotEstimated.FAULTY


def _has_run(trace: Trace, attribute: str, kind: str) -> bool:
    """Whether another module of the class starts with values that differ: then its initialiser was not skipped."""
    return any(
        fact.name.endswith(f".{attribute}")
        and fact.initial.minimum != fact.initial.maximum
        and (module := trace.get(ModuleFact, fact.module)) is not None
        and module.kind == kind
        for fact in trace.parameters
    )


def _lines_run(trace: Trace) -> set[str]:
    """Lines that did initialise parameters: they passed this one over on purpose."""
    return {line for probe in trace.probes("initialisers") for line in probe.values["lines"]}
