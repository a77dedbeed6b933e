"""ACT-DIM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.axes import AttentionOverBatch, SoftmaxOverWrongAxis
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, activation_line, head_of, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class SoftmaxAxis:
    """Softmax or log-softmax of the output runs over the wrong axis.

    Over the batch, the samples compete for each class: the answer for one depends on the others, and nothing forces the classes
    of one sample to share probability.
    Name the axis of the classes: `dim=1`, or `dim=-1` when they come last.
    """

    code: ClassVar[str] = "ACT-DIM"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D408"):
            head = head_of(case, symptom)
            function = str(symptom.detail["function"])
            if head is None or not function:
                continue
            site, related = activation_line(case, head, function)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason="Samples compete instead of classes, so the prediction for one sample depends on the rest of its batch.",
                remedy=f"Apply {function} over the classes (`dim={head.class_axis}`) at {text_at(case, site, function)}."
                if head.class_axis and head.width != 1
                else f"Use a sigmoid for a single output instead of {function} at {text_at(case, site, function)}.",
                refutation="The first axis of the outputs holds the classes.",
                related=related,
                explains=(*STUCK, "D401", "D403", "D601"),
            )

        seen = any("softmax" in str(symptom.detail.get("operation", "")) for symptom in case.of("D601"))
        for symptom in case.of("D417") if not seen else ():
            line = "" if symptom.site is None else f" in `{case.sources.line(symptom.site)}`"
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Samples compete instead of positions, so what one sample attends to depends on the rest of its batch.",
                remedy=f"Apply softmax over the positions that are attended to (`dim=-1`){line}.",
                refutation="The first axis of the scores holds the positions.",
                explains=(*STUCK, "D601"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        *AttentionOverBatch.FAULTY,
        *(run for run in SoftmaxOverWrongAxis.FAULTY if "a vector" not in run.title),
    )
