"""ACT-HID-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, WEAK, fault, for_symptom, register
from netmend.localise.handed_on import handed_on
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, ModuleFact, Symptom


@register
@dataclass(frozen=True)
class HiddenActivationMissing:
    """There is no non-linearity between layers.

    Linear layers in a row are one linear layer, however many there are. Put an activation (ReLU is the usual one) after every hidden layer, and
    call it in forward.
    """

    code: ClassVar[str] = "ACT-HID-MISSING"

    affine_weight: float = threshold(3.0, "convention", "a network of several layers that is linear as a whole is rarely meant")
    certain_weight: float = threshold(2.2, "convention", "two layers that surely follow one another")

    def accuse(self, case: Case) -> Iterator[Fault]:
        pairs = [symptom for symptom in case.of("D118") if self._certain(case, symptom)]
        if not pairs:
            return
        symptom = pairs[0]
        weight = self.affine_weight if symptom.detail.get("affine") else self.certain_weight
        evidence = [for_symptom(symptom, weight), *harm(case), *relief(case)]
        if len(pairs) > 1:
            evidence.append(Evidence(f"The same holds for {len(pairs) - 1} more places.", WEAK))
        if self._none(case, symptom):
            evidence.append(Evidence("The model calls no activation function between its layers at all.", FAIR))
        first = case.trace.get(ModuleFact, symptom.component)
        second = case.trace.get(ModuleFact, str(symptom.detail.get("second")))
        where = "" if symptom.site is None else f" (created in {symptom.site.short})"
        yield fault(
            self.code,
            evidence,
            component=symptom.component,
            site=symptom.site,
            summary=symptom.message,
            reason="Linear layers in a row can do no more than one: the network cannot learn anything curved.",
            remedy=f"Put an activation such as `nn.ReLU()` between {symptom.component}{where} and {symptom.detail.get('second')}.",
            refutation="The loss gets no lower with an activation there, because the task is linear.",
            related=(
                first.called if first is not None else None,
                second.created if second is not None else None,
                second.called if second is not None else None,
            ),
            explains=("D118", "D504", "D501", "D604", "D508"),
        )

    def _certain(self, case: Case, symptom: Symptom) -> bool:
        if symptom.detail.get("certain"):
            return True
        first = case.trace.get(ModuleFact, symptom.component)
        second = case.trace.get(ModuleFact, str(symptom.detail.get("second")))
        return first is not None and second is not None and handed_on(case.sources, case.trace, first, second)

    def _none(self, case: Case, symptom: Symptom) -> bool:
        model = symptom.component.partition(".")[0]
        chained = sum(s.component.partition(".")[0] == model for s in case.of("D118"))
        layers = [m for m in case.trace.layers() if m.model == model and ("in_features" in m.settings or "in_channels" in m.settings)]
        return 1 < len(layers) == chained + 1

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "no activation at all",
            net_run("Linear(10,64) Linear(64,64) Linear(64,4)", losses=[*falling(100, end=0.7), *flat(100, 0.7)]),
        ),
    )


