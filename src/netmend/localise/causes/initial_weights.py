"""How weights and biases start."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detectors.initial_weights import InitSymmetric
from netmend.diagnose.detectors.initialisers import InitialisedAgain, ZerosStay
from netmend.diagnose.detectors.norm_statistics import NormNotEstimated
from netmend.diagnose.examples.curves import flat
from netmend.diagnose.examples.networks import net_run
from netmend.diagnose.measures.chain import mostly
from netmend.library.activations import SQUASHING
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, WEAK, Cause, fault, for_symptom
from netmend.localise.effects import ANY, codes, outcome
from netmend.localise.lines.initialisers import (
    CONSTANT,
    RANDOM,
    SCALING,
    Held,
    Initialiser,
    init_line,
    initialiser_of,
)
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, convention
from netmend.vocabulary import Evidence, Fault, ModuleFact, ParameterFact, Statistics, Symptom, Trace

_WEIGHTS_EXPLAIN = codes(
    "D101 D102 D103 D104 D130 D105 D106 D107 D109 D112 D114 D115 D412 D501 D502 D503 D504 D505 D508 D511 D602 D606"
)


class WeightsStartBadly(Cause, code="ARC-INIT-WEIGHT"):
    """Weights start at a constant, at zero, or at a scale that is wrong for the layer.

    Units that start alike stay alike; weights that are too large saturate units and blow the loss up; weights that are too small let signal and
    gradient fade. Leave the framework's own initialisation, or use He's for rectifiers and Xavier's for tanh and sigmoid.
    """

    symmetric_weight = convention(4.0, "equal units in two layers in a row are a fact; harm adds to it")

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
            yield self.fault(
                symptom,
                [for_symptom(symptom, STRONG + FAIR)],
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
        return self.fault(
            symptom,
            evidence,
            site=line or created,
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
            explains=_WEIGHTS_EXPLAIN,
        )

    FAULTY = (
        *InitSymmetric.FAULTY,
        *InitialisedAgain.FAULTY,
        *ZerosStay.FAULTY,
        Run("far too large", lambda: net_run(losses=flat(200, 30.0, 5.0), gain={2: 8.0, 4: 8.0})),
    )


def _deviation(case: Case, layer: str) -> float | None:
    """The deviation of a layer's initial weights, as an initialisation would name it."""
    found = [p.initial.std for p in case.trace.all(ParameterFact) if p.module == layer and len(p.shape) >= 2]
    return found[0] if found else None


_BIASES_EXPLAIN = codes("D104 D130 D105 D109 D113 D215 D412 D501 D502 D504 D505 D508 D511 D602")
_NOTHING = 1e-6  # spread of the answers over the samples: what rounding leaves of none
_LOW = {"initial": Statistics(-5.0, 0.0, 5.0, -5.0, -5.0, 0.0, 0)}


class BiasesStartBadly(Cause, code="ARC-INIT-BIAS"):
    """Biases start at a value that swamps the weights.

    Strongly negative biases switch rectifiers off for every sample, so that neither signal nor gradient passes; an output bias far from the
    targets has to be unlearned first. Start hidden biases at zero, and the output bias at zero or at the mean of the targets.
    """

    dead_weight = convention(
        3.0, "a layer that is dead from the first step behind such biases leaves little doubt"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D113")[:1]:
            dead = [s for s in case.of("D104", "D105") if s.detail.get("first", 0.0) > 0.5]
            evidence = [for_symptom(symptom, STRONG if symptom.detail.get("head") else FAIR)]
            evidence += [for_symptom(s, self.dead_weight) for s in (dead or _cut_off(case))[:1]]
            if symptom.detail.get("head") and case.has("D412"):
                evidence.append(Evidence("The first loss is far off.", WEAK, "D412"))
            yield self._fault(case, symptom, [*evidence, *harm(case), *relief(case, 2 * STRONG)])

    def _fault(self, case: Case, symptom: Symptom, evidence: list[Evidence]) -> Fault:
        module = case.trace.get(ModuleFact, symptom.component)
        created = symptom.site or (module.created if module is not None else None)
        line = init_line(case.sources, created, "bias", (*CONSTANT, *RANDOM), symptom.detail.get("value"))
        where = f" in {line.short}" if line is not None else ""
        return self.fault(
            symptom,
            evidence,
            site=line or created,
            reason="The bias decides the output of these units whatever the input, and dead units get no gradient to correct it.",
            remedy=f"Start these biases at zero: remove the line or use `nn.init.zeros_`{where}.",
            refutation="Training is no better when these biases start at zero.",
            related=(created, module.called if module is not None else None),
            explains=_BIASES_EXPLAIN,
        )

    FAULTY = {
        "dead behind biases of -5": lambda: net_run(
            losses=flat(200), parameters={"model.0.bias": _LOW}, activations={1: {"silent_share": 1.0}}
        )
    }


def _cut_off(case: Case) -> list[Symptom]:
    """The answer is the same for every sample from the first step on: whatever lies behind those biases gets no signal."""
    return [
        s
        for s in case.of("D109")
        if s.first_step == 0 and s.observed is not None and abs(s.observed) < _NOTHING
    ]


class CallMissing(Cause, code="API-CALL-MISSING"):
    """Something that must run before training or evaluation has not run.

    A spectrally normalised layer knows the size of its weights only after a training pass; a parameter for which the program has an initialiser
    keeps its place-holder where that initialiser is skipped.
    Make the call, or use an interface that does not depend on it.
    """

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D231"):
            yield self.fault(
                symptom,
                [for_symptom(symptom, PROVEN + FAIR)],
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

    FAULTY = NormNotEstimated.FAULTY


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
