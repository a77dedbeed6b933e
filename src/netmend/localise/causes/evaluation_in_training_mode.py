"""LOOP-MODE-EVAL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.modes import EvaluationInTrainingMode as EvaluationInTrainingModeDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.blocks import no_grad_around
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, Site

# Functions that leave dropout on to learn how sure a model is, or let batch norm see the data again.
_MEANT = re.compile(
    "monte|carlo|(^|_|\\b)mc(_|$)|dropout|uncertain|stochastic|bayes|ensemble|batch_?norm|bn_|calibrat",
    re.IGNORECASE,
)


@register
class EvaluationInTrainingMode:
    """The model is evaluated in training mode.

    Dropout and batch norm then work as in training: results are worse than the model, and depend on chance and on the batch.
    Call model.eval() before evaluating and model.train() afterwards.
    """

    code: ClassVar[str] = "LOOP-MODE-EVAL"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D205"):
            evidence = [for_symptom(symptom, PROVEN)]
            if symptom.site is not None and "update_bn" in case.sources.line(symptom.site):
                evidence.append(Evidence("The pass updates the batch norm statistics.", -2 * PROVEN))
            if symptom.detail.get("graded"):
                evidence.append(
                    Evidence("The passes also recorded gradients, as training passes do.", -STRONG / 2)
                )
            switched = bool(symptom.detail.get("switched"))
            if switched and symptom.site is not None and _MEANT.search(symptom.site.function):
                continue
            model = symptom.component
            block = no_grad_around(case.sources, symptom.site)
            yield fault(
                self.code,
                evidence,
                component=model,
                site=block or symptom.site,
                summary=symptom.message,
                reason="Dropout disturbs every prediction, and batch norm uses the statistics of the current batch.",
                remedy=f"Call `{model}.eval()` here instead of `{model}.train()`."
                if switched
                else f"Call `{model}.eval()` before this pass and `{model}.train()` after it.",
                refutation="Dropout is left on to estimate uncertainty.",
                related=[symptom.site, *_layers(case, symptom.detail.get("layers", ()))],
                explains=("D509", "D603", "D605"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = EvaluationInTrainingModeDetector.FAULTY


def _layers(case: Case, names: tuple[str, ...]) -> list[Site | None]:
    facts = case.trace.facts.get("module", {})
    return [getattr(facts[name], "created", None) for name in names[:3] if name in facts]
