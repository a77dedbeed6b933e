"""ACT-OUT-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.localise.lines.head_lines import STUCK, head_of, last_layer, text_at
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class OutputActivationMissing:
    """A loss that expects probabilities gets outputs without a sigmoid.

    Values outside 0..1 are no probabilities: the loss refuses them, or, if they were clamped, gives no gradient where they were cut.
    Use BCEWithLogitsLoss on the scores, or apply a sigmoid to the output.
    """

    code: ClassVar[str] = "ACT-OUT-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D403"):
            if symptom.detail["criterion"] != "binary_cross_entropy" or symptom.detail.get("ends_in"):
                continue  # where there is an activation, it is the wrong one
            head = head_of(case, symptom)
            layer = last_layer(case, head)
            called = head.loss.called if head is not None else symptom.site
            created = head.loss.created if head is not None else None
            # The layer that lacks its activation is the line to change; the loss takes part.
            site = (layer.created if layer is not None else None) or created or called
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=layer.name if layer is not None else symptom.component,
                site=created or called or site,
                summary=symptom.message,
                reason="Raw scores are not probabilities: the loss rejects them, or has no gradient where they are clamped.",
                remedy=f"Use `BCEWithLogitsLoss` on the raw scores instead of {text_at(case, created or called)}, or apply a sigmoid to the output.",
                refutation="The output is a probability by construction and leaves [0, 1] only by rounding.",
                related=[called, *((layer.created, layer.called) if layer is not None else ())],
                explains=(*STUCK, "D110", "D701"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run(
            "scores clamped to 0..1",
            lambda: run_of(
                "binary_cross_entropy", given(16, 1, through=["Clamp"], low=0, high=1), wanted(16, 1, high=1)
            ),
        ),
        Run(
            "scores into the loss for probabilities",
            lambda: run_of(
                "binary_cross_entropy",
                exception="RuntimeError: all elements of input should be between 0 and 1",
            ),
        ),
    )
