"""LOS-CALC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.loss_values import LossSignOrUnbounded, LossSummed
from netmend.diagnose.detectors.losses_for_classes import ClassWeightsWrong
from netmend.diagnose.detectors.regularisation import TermWithoutBound
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.added_term import added_term_line
from netmend.localise.lines.follow import value_origin
from netmend.localise.lines.head_lines import STUCK, head_of, result_line, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault, LossFact, Symptom

_TOO_LARGE = ("D101", "D103", "D107", "D110", "D115", "D121", "D104", "D130", "D502", "D503")


@register
class LossComputedWrongly:
    """The objective is not the intended loss: its sign is flipped, or it is summed where a mean is needed.

    With the sign turned, the optimiser makes predictions worse without end. A sum over the batch multiplies every step by the
    number of samples.
    Remove the minus sign, or average over the batch.
    """

    code: ClassVar[str] = "LOS-CALC"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D409"):
            backward = next(
                (loss.backward for loss in case.trace.losses if loss.settings.get("negated")), None
            )
            site = result_line(case, symptom.site, backward)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="The optimiser minimises the objective, and thereby maximises the error.",
                remedy=f"Negate the objective at {text_at(case, site)}.",
                related=[symptom.site, backward],
                refutation="The program unlearns on purpose, or searches for inputs on which the model fails.",
                explains=(*STUCK, *_TOO_LARGE),
            )
        for symptom in case.of("D415"):
            yield self._unbounded(case, symptom)
        for symptom in case.of("D416"):
            yield self._weights(case, symptom)
        for symptom in () if case.has("D415") else case.of("D410"):
            head = head_of(case, symptom)
            elements = int(symptom.detail["elements"])
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + 1.5)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason=f"A sum makes the gradient about {elements} times that of the mean, so a usual rate overshoots.",
                remedy=f'Average instead of summing (`reduction="mean"`) at {text_at(case, symptom.site)}, or divide the learning rate by about {elements}.',
                refutation=f"A rate {elements} times smaller fails in the same way.",
                related=[head.loss.called] if head is not None else [],
                explains=(*STUCK, *_TOO_LARGE),
            )

    def _unbounded(self, case: Case, symptom: Symptom) -> Fault:
        objective = case.trace.get(LossFact, str(symptom.detail["loss"]))
        site = (added_term_line(case, objective) if objective is not None else None) or symptom.site
        return fault(
            self.code,
            [for_symptom(symptom, PROVEN + 1.5)],
            component=symptom.component,
            site=site,
            summary=symptom.message,
            reason="The optimiser drives the added term ever lower, at the expense of the loss.",
            remedy=f"Negate the added term at {text_at(case, site)}: a divergence or penalty is added to the loss and is never negative.",
            refutation="The added term has a lower bound that the run has not reached yet.",
            related=[symptom.site],
            explains=(*STUCK, *_TOO_LARGE, "D410", "D512"),
        )

    def _weights(self, case: Case, symptom: Symptom) -> Fault:
        call = case.sources.call_at(symptom.site) if symptom.site is not None else None
        given = case.sources.argument(call, str(symptom.detail["argument"])) if call is not None else None
        site = symptom.site
        if given is not None and site is not None:
            site = value_origin(case.sources, site.file, given)
        return fault(
            self.code,
            [for_symptom(symptom, STRONG + FAIR)],
            component=symptom.component,
            site=site,
            summary=symptom.message,
            reason="A rare class that counts less is learned even worse than without weights.",
            remedy=f"Give each class the inverse of its number of samples, in the order of the class numbers, at {text_at(case, site)}.",
            refutation="The frequent class counts more on purpose.",
            related=[symptom.site],
            explains=("D307", "D511"),
        )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *ClassWeightsWrong.FAULTY,
        *TermWithoutBound.FAULTY,
        *LossSignOrUnbounded.FAULTY,
        *LossSummed.FAULTY,
    )
