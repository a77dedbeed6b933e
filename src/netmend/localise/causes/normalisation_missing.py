"""LYR-NORM-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.chain import SIGMOIDS, chain, mostly
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.outcome import harm, relief, rivals
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, FunctionFact, ModuleFact, Site, Symptom

_DEEP = "Linear(10,32) ReLU " + "Linear(32,32) ReLU " * 12 + "Linear(32,4)"
_EXPLAINS = ("D102", "D103", "D106", "D109", "D114", "D115", "D501", "D504", "D508", "D511")
_RIVALS = {
    "D111": "The weights start symmetric.",
    "D112": "The initial weights have the wrong scale.",
    "D302": "The inputs are badly scaled.",
    "D104": "Units are dead.",
}


@register
class NormalisationMissing:
    """A deep stack lacks normalisation, so that signals fade or explode with depth.

    Each layer multiplies size and differences of the signal by some factor; over many layers the product goes to nothing or to infinity.
    Put BatchNorm or LayerNorm after the linear layers, add skip connections, or start with He's initialisation.
    """

    code: ClassVar[str] = "LYR-NORM-MISSING"

    least_layers: int = threshold(7, "convention", "shallower networks train without")

    def accuse(self, case: Case) -> Iterator[Fault]:
        deep = list(case.of("D106")) + [s for s in case.of("D103") if s.detail.get("form") == "depth"]
        deep += [s for s in case.of("D109") if s.detail.get("faded")]
        for symptom in deep[:1]:
            depth, norms = self._depth(case, symptom.component)
            hurt = harm(case)
            if depth < self.least_layers or norms or not hurt:
                continue
            evidence = [for_symptom(symptom, STRONG), *(for_symptom(s, WEAK) for s in deep[1:2]), *hurt]
            evidence.append(
                Evidence(f"None of {depth} consecutive layers is followed by a normalisation.", FAIR)
            )
            evidence += rivals(case, _RIVALS)
            if mostly(case.trace, SIGMOIDS) is not None:
                evidence.append(
                    Evidence("The hidden activations are sigmoids, which shrink every gradient.", -STRONG)
                )
            yield self._fault(case, symptom, [*evidence, *relief(case, 2 * STRONG)], depth)

    def _depth(self, case: Case, component: str) -> tuple[int, int]:
        """Linear layers of the model that ran, and normalisations of any kind in it."""
        module = case.trace.get(ModuleFact, component)
        links = [link for link in chain(case.trace) if module is None or link.model == module.model]
        norms = sum("Norm" in link.module.kind for link in links if link.module is not None)
        norms += sum(fact.kind == "norm" for fact in case.trace.all(FunctionFact))
        return sum(link.kind == "linear" for link in links), norms

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence], depth: int) -> Fault:
        site = self._line(case, symptom)
        where = "" if site is None else f" created in {site.short}"
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=site,
            summary=symptom.message,
            reason=f"Over {depth} layers, even a small loss of signal per layer leaves almost nothing at the end.",
            remedy=f"Put `nn.BatchNorm1d` (or 2d) or `nn.LayerNorm` after the hidden layers{where}, or add skip connections.",
            refutation="The network trains no better with normalisation, or with half as many layers.",
            explains=_EXPLAINS,
        )

    def _line(self, case: Case, symptom: Symptom) -> Site | None:
        """The line that creates most of the layers: a loop, as a rule."""
        module = case.trace.get(ModuleFact, symptom.component)
        counts: dict[Site, int] = {}
        for link in chain(case.trace):
            if (
                link.kind == "linear"
                and link.site is not None
                and (module is None or link.model == module.model)
            ):
                counts[link.site] = counts.get(link.site, 0) + 1
        return max(counts, key=lambda site: counts[site], default=symptom.site)

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "thirteen layers, gradients fade",
            lambda: net_run(_DEEP, losses=flat(200), gradients={2 * n: 1e-9 * 3.0**n for n in range(14)}),
        ),
    )
