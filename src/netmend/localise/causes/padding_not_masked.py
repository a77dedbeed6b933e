"""INP-MASK-MISSING."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.padding_counted import PaddingCounted
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, fault, for_symptom, register
from netmend.unit import Run
from netmend.vocabulary import Fault, LossFact


@register
class PaddingNotMasked:
    """Padding counts in the loss like any other token.

    Predicting padding is easy, so the loss looks good while the rest is hardly learned. Tell the loss which token to leave out:
    `nn.CrossEntropyLoss(ignore_index=pad)`.
    """

    code: ClassVar[str] = "INP-MASK-MISSING"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D315"):
            loss = case.trace.get(LossFact, symptom.component)
            yield fault(
                self.code,
                [for_symptom(symptom, STRONG + FAIR)],
                component=symptom.component,
                site=symptom.site,
                summary=symptom.message,
                reason="The network is rewarded for predicting padding, which drowns out the real tokens.",
                remedy="Exclude the padding token from the loss with `ignore_index`, or mask it and divide by the number of real tokens.",
                refutation="It is a real token that happens to have the embedding's padding index.",
                related=() if loss is None else (loss.called,),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = PaddingCounted.FAULTY
