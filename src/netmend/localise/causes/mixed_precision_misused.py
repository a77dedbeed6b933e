"""LOOP-AMP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.clipping import ClippedBeforeUnscaling
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, PROVEN, STRONG, fault, for_symptom, register
from netmend.localise.effects import NOT_LEARNING
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class MixedPrecisionMisused:
    """Mixed precision is used in a way that loses the gradients.

    Gradients are multiplied by the loss scale until they are unscaled; clipping before that cuts them to nothing. Weights kept in
    half precision swallow small updates.
    Call scaler.unscale_(optimizer) before clipping, and keep weights in float32.
    """

    code: ClassVar[str] = "LOOP-AMP"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D212"):
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.0)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="Scaled gradients are huge, so clipping leaves next to nothing after unscaling.",
                remedy="Call `scaler.unscale_(optimizer)` before this line.",
                refutation="The limit is scaled too.",
                explains=(*NOT_LEARNING, "D211"),
            )
        for symptom in case.of("D225"):
            yield fault(
                self.code,
                [for_symptom(symptom, FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="A skipped step teaches nothing.",
                remedy="Find the value that overflows in half precision, or compute that part in float32.",
                refutation="The weights diverge in float32 as well.",
            )
        for symptom in case.of("D215"):
            if symptom.detail.get("half") and symptom.detail.get("rate") != 0:
                yield fault(
                    self.code,
                    [for_symptom(symptom, STRONG + FAIR)],
                    component=symptom.component,
                    site=symptom.site,
                    summary=symptom.message,
                    reason="In half precision, adding a small update to a weight does not change it.",
                    remedy="Keep the weights in float32 and use autocast for the forward pass.",
                    refutation="The weights do change, but between two recorded steps.",
                    explains=NOT_LEARNING,
                )

    FAULTY: ClassVar[tuple[Run, ...]] = ClippedBeforeUnscaling.FAULTY
