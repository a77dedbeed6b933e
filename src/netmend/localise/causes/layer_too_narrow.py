"""LYR-UNITS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.layer_sizes import Bottleneck
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.follow import argument_origin
from netmend.localise.outcome import harm, rivals
from netmend.unit import Run
from netmend.vocabulary import Fault, ModuleFact

_RIVALS = {
    "D101": "The steps are too large.",
    "D102": "The steps are too small.",
    "D106": "The gradients vanish.",
    "D111": "The weights start symmetric.",
    "D401": "The output is normalised twice.",
}


@register
class LayerTooNarrow:
    """A hidden layer has far too few units.

    Everything later layers know of a sample has to fit through it. Make it at least as wide as the number of classes, usually 16 units or more.
    """

    code: ClassVar[str] = "LYR-UNITS"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D120")[:1]:
            module = case.trace.get(ModuleFact, symptom.component)
            created = None if module is None else module.created
            origin = argument_origin(case.sources, created, "out_features", 1)
            evidence = [for_symptom(symptom, STRONG), *harm(case)]
            evidence += [for_symptom(s, FAIR) for s in case.of("D504")[:1]]
            evidence += rivals(case, _RIVALS)
            width = symptom.detail.get("width")
            yield fault(
                self.code,
                evidence,
                component=symptom.component,
                site=created if origin is None else origin.site,
                summary=symptom.message,
                reason="One or two numbers per sample cannot carry enough for the later layers to tell samples apart.",
                remedy=f"Give {symptom.component} 16 units or more instead of {width}, and widen the next layer's input to match.",
                refutation="Ten times as many units do not lower the loss.",
                related=(created, None if module is None else module.called),
                explains=("D109", "D120", "D501", "D504", "D511"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = Bottleneck.FAULTY
