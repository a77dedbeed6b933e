"""ARC-INIT-WEIGHT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.initial_weights import InitSymmetric
from netmend.diagnose.detectors.initialisers import InitialisedAgain, ZerosStay
from netmend.diagnose.measures.chain import SQUASHING, mostly
from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.init_lines import CONSTANT, RANDOM, SCALING, init_line
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, ModuleFact, ParameterFact, Symptom

_EXPLAINS = (
    "D101", "D102", "D103", "D104", "D130", "D105", "D106", "D107", "D109", "D112", "D114", "D115",
    "D412", "D501", "D502", "D503", "D504", "D505", "D508", "D511", "D602", "D606",
)  # fmt: skip


@register
class WeightsStartBadly:
    """Weights start at a constant, at zero, or at a scale that is wrong for the layer.

    Units that start alike stay alike; weights that are too large saturate units and blow the loss up; weights that are too small let signal and
    gradient fade. Leave the framework's own initialisation, or use He's for rectifiers and Xavier's for tanh and sigmoid.
    """

    code: ClassVar[str] = "ARC-INIT-WEIGHT"

    symmetric_weight: float = threshold(
        4.0, "convention", "equal units in two layers in a row are a fact; harm adds to it"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        yield from self._again(case)
        symmetric = sorted(case.of("D111"), key=lambda symptom: -self._weight(symptom))
        for symptom in symmetric[:1]:
            only = symptom.detail.get("cut") and not symptom.detail.get("partner")
            against = relief(case, 2 * STRONG if only else STRONG)
            yield self._fault(
                case, symptom, [for_symptom(symptom, self._weight(symptom)), *harm(case), *against]
            )
        for symptom in () if symmetric else case.of("D129")[:1]:
            yield self._fault(case, symptom, [for_symptom(symptom, STRONG + FAIR), *harm(case)])
        for symptom in () if symmetric else case.of("D112")[:1]:
            hurt = harm(case)
            start = [
                for_symptom(s, FAIR)
                for s in case.of("D412")[:1]
                if symptom.detail.get("direction") == "large"
            ]
            felt = [for_symptom(s, WEAK) for s in case.of("D105", "D107", "D102")[:1]]
            yield self._fault(
                case, symptom, [for_symptom(symptom, STRONG), *start, *felt, *hurt, *relief(case, 2 * STRONG)]
            )

        for symptom in () if symmetric or case.has("D112") else case.of("D122")[:1]:
            dead = [for_symptom(s, FAIR) for s in case.of("D130", "D104", "D105", "D109")[:1]]
            yield self._fault(
                case,
                symptom,
                [for_symptom(symptom, FAIR + WEAK), *dead, *harm(case), *relief(case, 2 * STRONG)],
            )

    def _weight(self, symptom: Symptom) -> float:
        """Equal units in two layers, or zeros that nothing ever passes, are proof; zeros that may be left behind are not."""
        if symptom.detail.get("partner") or symptom.detail.get("dead"):
            return self.symmetric_weight
        return STRONG if symptom.detail.get("cut") else FAIR

    def _again(self, case: Case) -> Iterator[Fault]:
        """Written several times by one line: the last one to write decides."""
        for symptom in case.of("D123"):
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Every call overwrites earlier values, so the result depends on the order, and building the "
                "model takes longer.",
                remedy="Walk through a module's own parameters only (`parameters(recurse=False)`), or do it once for the whole model.",
                refutation="Several modules share these parameters.",
            )

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        module = case.trace.get(ModuleFact, symptom.component)
        created = symptom.site or (module.created if module is not None else None)
        constant = symptom.code in ("D111", "D129")
        value = symptom.detail.get("value") if constant else _deviation(case, symptom.component)
        names = CONSTANT if constant else (*RANDOM, *SCALING)
        line = init_line(case.sources, created, "weight", names, value, symptom.component)
        if line is None and not constant:
            line = init_line(case.sources, created, "weight", CONSTANT, value, symptom.component)
        where = f" in {line.short}" if line is not None else ""
        squashed = mostly(case.trace, SQUASHING) is not None
        kind = "nn.init.xavier_uniform_" if squashed else "nn.init.kaiming_normal_"
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=line or created,
            summary=symptom.message,
            reason="Nothing of the input gets through this layer, so later layers cannot tell samples apart."
            if symptom.detail.get("cut")
            else "The gradient of each is a multiple of the other, so both stay at zero forever."
            if symptom.code == "D129"
            else "Units with equal weights get equal gradients and never become different."
            if constant
            else "The signal explodes or vanishes from the first step on, and the loss starts or stays far too high.",
            remedy=f"Initialise at least one of them with small random values{where}: `nn.init.normal_(weight, std=0.1)`."
            if symptom.code == "D129"
            else f"Remove this initialisation{where}, or use `{kind}` on the weights.",
            refutation="The framework's default initialisation trains no better.",
            related=(created, module.called if module is not None else None),
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *InitSymmetric.FAULTY,
        *InitialisedAgain.FAULTY,
        *ZerosStay.FAULTY,
        Run("far too large", lambda: net_run(losses=flat(200, 30.0, 5.0), gain={2: 8.0, 4: 8.0})),
    )


def _deviation(case: Case, layer: str) -> float | None:
    """The deviation of a layer's initial weights, as an initialisation would name it."""
    found = [p.initial.std for p in case.trace.all(ParameterFact) if p.module == layer and len(p.shape) >= 2]
    return found[0] if found else None
