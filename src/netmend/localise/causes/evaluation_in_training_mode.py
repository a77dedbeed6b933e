"""LOOP-MODE-EVAL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detectors import evaluation_in_training_mode
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines import always_dropping, no_grad_around
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault, ModuleFact, Site


@register
@dataclass(frozen=True)
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
                evidence.append(Evidence("The pass renews the statistics of batch norm.", -2 * PROVEN))
            if symptom.detail.get("graded"):
                evidence.append(
                    Evidence("The passes also recorded gradients, as training passes do.", -STRONG / 2)
                )
            model = symptom.component
            block = no_grad_around(case.sources, symptom.site)
            yield fault(
                self.code,
                evidence,
                component=model,
                site=block or symptom.site,
                summary=symptom.message,
                reason="Dropout disturbs every prediction and batch norm uses the statistics of the batch at hand.",
                remedy=f"Call `{model}.eval()` before this pass and `{model}.train()` after it.",
                refutation="Dropout that is left on to estimate uncertainty.",
                related=[symptom.site, *_layers(case, symptom.detail.get("layers", ()))],
                explains=("D509", "D603", "D605"),
            )

        yield from self._always_on(case)

    def _always_on(self, case: Case) -> Iterator[Fault]:
        """Dropout that eval() does not reach, in a program that evaluates."""
        passes = [
            table
            for table in case.trace.tables_of("evaluation")
            if (table.column("training_mode") == 0).any()
        ]
        files = dict.fromkeys(m.called.file for m in case.trace.all(ModuleFact) if m.called is not None)
        for site in (
            (place for file in files for place in always_dropping(case.sources, file)) if passes else ()
        ):
            told = f"`{case.sources.line(site)}` does not depend on the mode, so `eval()` does not switch it off."
            yield fault(
                self.code,
                [Evidence(told, STRONG + FAIR)],
                component="dropout",
                site=site,
                summary=told,
                reason="Dropout disturbs every prediction when the model is evaluated.",
                remedy="Create the dropout layer in `__init__`, or give `training=self.training` to the function.",
                refutation="Dropout that is left on to estimate uncertainty.",
                explains=("D509", "D603", "D605"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = evaluation_in_training_mode.EvaluationInTrainingMode.FAULTY


def _layers(case: Case, names: tuple[str, ...]) -> list[Site | None]:
    facts = case.trace.facts.get("module", {})
    return [getattr(facts[name], "created", None) for name in names[:3] if name in facts]
