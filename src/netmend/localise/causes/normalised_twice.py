"""LYR-SOFTMAX-EXTRA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.output_activations import NormalisedTwice as NormalisedTwiceDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, activation_line, head_of, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class NormalisedTwice:
    """Softmax or sigmoid is applied before a loss that applies it itself.

    The loss then sees values squeezed into 0..1 as if they were scores: even a perfect answer costs a lot, gradients are small,
    and learning is slow or stops early.
    Give the loss the raw scores; apply softmax or sigmoid only where probabilities are read.
    """

    code: ClassVar[str] = "LYR-SOFTMAX-EXTRA"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D401"):
            head = head_of(case, symptom)
            if head is None:
                continue
            function = str(symptom.detail["function"])
            site, related = activation_line(case, head, function)
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component,
                site=site,
                summary=symptom.message,
                reason=f"`{head.loss.criterion}` treats probabilities as logits, so the loss stays high even for correct predictions and gradients are small.",
                remedy=f"Remove the {function} at {text_at(case, site, function)}; apply it only where you need probabilities.",
                refutation=f"No {function} runs before the loss, and the scores lie in this range by chance.",
                related=related,
                explains=STUCK,
            )

    FAULTY: ClassVar[tuple[Run, ...]] = NormalisedTwiceDetector.FAULTY
