"""LOS-REG-EXTRA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.regularisation import RegulariserDominates
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.localise.lines.penalty_lines import factor_line, penalty_line
from netmend.localise.lines.rates import Setting, rounded, setting
from netmend.localise.outcome import harm, rivals
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, LossFact, OptimizerFact, Symptom

_EXPLAINS = (
    "D101",
    "D102",
    "D104",
    "D130",
    "D106",
    "D108",
    "D109",
    "D114",
    "D117",
    "D501",
    "D504",
    "D505",
    "D508",
    "D511",
)


@register
class RegularisationTooStrong:
    """Regularisation is far too strong.

    It pulls the weights to zero harder than the data pulls them anywhere, so that the network ends up answering the same for everything.
    Remove it, or divide it by a hundred and go up again only against overfitting.
    """

    code: ClassVar[str] = "LOS-REG-EXTRA"

    dominates: float = threshold(
        3.0,
        "convention",
        "measured: the penalty's pull is the stronger one, weights shrank, little was learned",
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D117"):
            evidence = [for_symptom(symptom, self.dominates), *harm(case)]
            evidence += [for_symptom(s, FAIR) for s in case.of("D108")[:1]]
            evidence += rivals(
                case, {"D211": "Clipping removes nearly all of the data's gradient."}, STRONG + FAIR
            )
            yield (
                self._decay(case, symptom, evidence)
                if symptom.detail.get("form") == "decay"
                else self._term(case, symptom, evidence)
            )

    def _decay(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        optimizer = case.trace.get(OptimizerFact, symptom.component)
        place = setting(case, optimizer, "weight_decay", None)
        value = float(symptom.detail.get("setting", 0.0))
        where = "" if place.site is None else f" in {place.site.short}"
        wanted = rounded(min(value / 100, 1e-2 if optimizer is not None and "W" in optimizer.kind else 1e-4))
        remedy = f"Change `weight_decay={value:g}` to about {wanted:g}{where}, or remove it."
        return self._fault(symptom, evidence, place, symptom.component, remedy)

    def _term(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        loss = case.trace.get(LossFact, symptom.component)
        near = None if loss is None else loss.called or loss.backward
        layer = str(symptom.detail.get("layer", ""))
        line = None if near is None else factor_line(case, penalty_line(case, near.file, layer))
        site = line or (None if loss is None else loss.backward)
        where = "" if site is None else f" in {site.short}"
        remedy = f"Remove the penalty on the weights{where}, or divide its factor by 100."
        return self._fault(
            symptom,
            evidence,
            Setting(site, "", () if near is None else (near,)),
            layer or symptom.component,
            remedy,
        )

    def _fault(
        self, symptom: Symptom, evidence: list[Evidence], place: Setting, component: str, remedy: str
    ) -> Fault:
        return fault(
            self.code,
            evidence,
            component=component,
            site=place.site,
            summary=symptom.message,
            reason="The weights follow the penalty instead of the data and shrink until the output is the same for every input.",
            remedy=remedy,
            refutation="Removing the regularisation does not lower the loss.",
            related=place.related,
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = RegulariserDominates.FAULTY
