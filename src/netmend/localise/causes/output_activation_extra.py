"""ACT-EXTRA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.output_ranges import OutputRangeTooNarrow
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, activation_line, head_of, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class OutputActivationExtra:
    """The scores went through an activation that cuts them off before the loss.

    Scores below zero say "rather not this class". A ReLU turns them all into 0, without gradient: a class that falls there
    cannot come back.
    Leave the last layer linear.
    """

    code: ClassVar[str] = "ACT-EXTRA"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D404"):
            head = head_of(case, symptom)
            if head is None or symptom.detail["what"] != "cut scores":
                continue
            function = str(symptom.detail["function"])
            site, related = activation_line(case, head, function)
            classes = head.loss.criterion in ("cross_entropy", "nll_loss")
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + 1.5 if classes else PROVEN + 1.0)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="Scores below zero are cut off together with their gradient, so a class that gets there cannot recover.",
                remedy=f"Remove the {function} at {text_at(case, site, function)}: the loss needs the raw output of the last layer.",
                refutation="The scores pass through more layers before the loss.",
                related=related,
                explains=STUCK,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = tuple(
        run for run in OutputRangeTooNarrow.FAULTY if "ReLU on class" in run.title
    )
