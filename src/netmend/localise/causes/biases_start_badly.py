"""ARC-INIT-BIAS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.examples import flat
from netmend.diagnose.measures.net_examples import net_run
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.init_lines import CONSTANT, RANDOM, init_line
from netmend.localise.outcome import harm, relief
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault, ModuleFact, Statistics, Symptom

_EXPLAINS = (
    "D104",
    "D130",
    "D105",
    "D109",
    "D113",
    "D215",
    "D412",
    "D501",
    "D502",
    "D504",
    "D505",
    "D508",
    "D511",
    "D602",
)
_NOTHING = 1e-6  # spread of the answers over the samples: what rounding leaves of none
_LOW = {"initial": Statistics(-5.0, 0.0, 5.0, -5.0, -5.0, 0.0, 0)}


@register
class BiasesStartBadly:
    """Biases start at a value that swamps the weights.

    Strongly negative biases switch rectifiers off for every sample, so that neither signal nor gradient passes; an output bias far from the
    targets has to be unlearned first. Start hidden biases at zero, and the output bias at zero or at the mean of the targets.
    """

    code: ClassVar[str] = "ARC-INIT-BIAS"

    dead_weight: float = threshold(
        3.0, "convention", "a layer that is dead from the first step behind such biases leaves little doubt"
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
        return fault(
            self.code,
            evidence,
            component=symptom.component,
            site=line or created,
            summary=symptom.message,
            reason="The bias decides the output of these units whatever the input, and dead units get no gradient to correct it.",
            remedy=f"Start these biases at zero: remove the line or use `nn.init.zeros_`{where}.",
            refutation="Training is no better when these biases start at zero.",
            related=(created, module.called if module is not None else None),
            explains=_EXPLAINS,
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "dead behind biases of -5",
            lambda: net_run(
                losses=flat(200), parameters={"model.0.bias": _LOW}, activations={1: {"silent_share": 1.0}}
            ),
        ),
    )


def _cut_off(case: Case) -> list[Symptom]:
    """The answer is the same for every sample from the first step on: whatever lies behind those biases gets no signal."""
    return [
        s
        for s in case.of("D109")
        if s.first_step == 0 and s.observed is not None and abs(s.observed) < _NOTHING
    ]
