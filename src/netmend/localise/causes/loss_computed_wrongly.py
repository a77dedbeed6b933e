"""LOS-CALC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors import loss_sign_or_unbounded, loss_summed
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.head_lines import STUCK, head_of, result_line, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault

_TOO_LARGE = ("D101", "D103", "D107", "D110", "D115", "D121", "D104", "D130", "D502", "D503")


@register
class LossComputedWrongly:
    """The objective is not the loss that was meant: its sign is turned, or it is summed where a mean is needed.

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
                reason="The optimiser makes the objective small, and so the error as large as it can.",
                remedy=f"Turn the sign of the objective at {text_at(case, site)}.",
                related=[symptom.site, backward],
                refutation="A program that means to unlearn, or to find inputs on which the model fails.",
                explains=(*STUCK, *_TOO_LARGE),
            )
        for symptom in case.of("D410"):
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
                refutation=f"The run fails in the same way with a rate {elements} times smaller.",
                related=[head.loss.called] if head is not None else [],
                explains=(*STUCK, *_TOO_LARGE),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *loss_sign_or_unbounded.LossSignOrUnbounded.FAULTY,
        *loss_summed.LossSummed.FAULTY,
    )
