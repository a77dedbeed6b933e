"""ACT-HID-WRONG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.measures.chain import SIGMOIDS, Link, mostly
from netmend.diagnose.measures.examples import falling, flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.handed_on import fed_by
from netmend.localise.outcome import harm, relief, rivals
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, ModuleFact, Symptom

_DEEP = "Linear(10,32) Sigmoid " + "Linear(32,32) Sigmoid " * 5 + "Linear(32,4)"
_EXPLAINS = ("D102", "D105", "D106", "D126", "D109", "D114", "D119", "D501", "D504", "D505", "D508", "D511")
_RIVALS = {
    "D302": "The inputs are badly scaled.",
    "D111": "The weights start symmetric.",
    "D112": "The weights start at a wrong scale.",
}


@register
@dataclass(frozen=True)
class HiddenActivationWrong:
    """A hidden layer uses an activation function that lets hardly any signal or gradient through.

    Sigmoids pass on at most a quarter of the gradient, so that a stack of them cannot learn; a softmax makes hidden units compete for a sum of one.
    Use ReLU (or GELU, tanh in shallow networks) in hidden layers.
    """

    code: ClassVar[str] = "ACT-HID-WRONG"

    softmax_weight: float = threshold(
        2.6, "convention", "a softmax between layers is seldom meant, and never in a plain stack"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        against = rivals(case, _RIVALS)
        for symptom in case.of("D119")[:1]:
            weight = self.softmax_weight if self._certain(case, symptom) else WEAK
            evidence = [for_symptom(symptom, weight), *harm(case), *relief(case, 2 * STRONG)]
            yield self._fault(case, symptom, evidence, "softmax", symptom.component)
        squashing = mostly(case.trace, SIGMOIDS)
        for symptom in (case.of("D106") or case.of("D126"))[:1]:
            if squashing is not None:
                evidence = [
                    for_symptom(symptom, STRONG + WEAK),
                    *(for_symptom(s, WEAK) for s in case.of("D126")[:1] if s is not symptom),
                    *harm(case),
                    *against,
                    *relief(case, 2 * STRONG),
                ]
                yield self._fault(case, symptom, evidence, squashing.function, squashing.name, squashing)
        for symptom in case.of("D105")[:1]:
            evidence = [for_symptom(symptom, FAIR), *harm(case), *against, *relief(case, 2 * STRONG)]
            evidence += (
                [Evidence("Units were not saturated at the start.", -WEAK)]
                if symptom.detail.get("first", 1.0) < 0.5
                else []
            )
            yield self._fault(case, symptom, evidence, str(symptom.detail.get("function")), symptom.component)

    def _certain(self, case: Case, symptom: Symptom) -> bool:
        """Whether it surely squeezes a plain hidden layer, and not a mixture or a code that is made of several layers."""
        before = case.trace.get(ModuleFact, str(symptom.detail.get("before")))
        if symptom.detail.get("certain") or before is None or symptom.site is None:
            return bool(symptom.detail.get("certain"))
        return fed_by(case.sources, case.trace, symptom.site, before)

    def _fault(
        self,
        case: Case,
        symptom: Symptom,
        evidence: list[Evidence],
        function: str,
        component: str,
        link: Link | None = None,
    ) -> Fault:
        module = case.trace.get(ModuleFact, component)
        site = symptom.site if link is None else link.site
        where = "" if site is None else f" in {site.short}"
        return fault(
            self.code,
            evidence,
            component=component,
            site=site,
            summary=symptom.message,
            reason=f"A hidden {function} passes on only a small part of the gradient, so the layers before it hardly learn.",
            remedy=f"Use `nn.ReLU()` (or `F.relu`) instead of {function} in the hidden layers{where}.",
            refutation="Training is no better with ReLU in its place.",
            related=(module.called if module is not None else None, symptom.site),
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "a deep stack of sigmoids",
            net_run(_DEEP, losses=flat(200), gradients={2 * n: 1e-6 * 4.0**n for n in range(7)}),
        ),
        Run(
            "softmax in the middle",
            net_run(
                "Linear(10,64) Softmax Linear(64,64) ReLU Linear(64,4)",
                losses=[*falling(100, end=0.8), *flat(100, 0.8)],
            ),
        ),
    )
