"""LOOP-ZERO-GRAD."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.loop_calls import GradientsNotCleared as GradientsNotClearedDetector
from netmend.localise.case import Case
from netmend.localise.cause import PROVEN, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class GradientsNotCleared:
    """Gradients are not cleared between optimiser steps.

    Every backward() adds to the stored gradients, so each step follows the sum of all batches seen so far: the
    effective step grows until training overshoots.
    Call `optimizer.zero_grad()` once per step, before backward().
    """

    code: ClassVar[str] = "LOOP-ZERO-GRAD"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D201"):
            optimizer = next((o.name for o in case.trace.optimizers), "optimizer")
            yield fault(
                self.code,
                [for_symptom(symptom, PROVEN + 1.5)],
                component=symptom.component or "training loop",
                site=symptom.site,
                summary=symptom.message,
                reason="`backward()` adds to the stored gradients, so every step uses the sum over all batches so far.",
                remedy=f"Insert `{optimizer}.zero_grad()` before the backward call, inside the loop over batches.",
                refutation="Gradients are cleared in a way netmend cannot see, for example in C++ code.",
                explains=("D101", "D103", "D501", "D502", "D503", "D504"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = GradientsNotClearedDetector.FAULTY
