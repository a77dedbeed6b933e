"""DAT-LITTLE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.training_length import FewSamples
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.data_origin import input_origin
from netmend.unit import Run
from netmend.vocabulary import Evidence, Fault

_RESULTS = ("D102", "D109", "D114", "D220", "D224", "D226")  # of little training, or of no weight


@register
class TooLittleData:
    """There are hardly any training samples.

    From a handful of samples nothing general can be learned, and an epoch over them is an update or two. Look where the data is cut: the parts of a split
    exchanged, a subset of a first try left in. With no more data, use a smaller or pretrained network, and augmentation.
    """

    code: ClassVar[str] = "DAT-LITTLE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        if case.has("D506"):
            return  # then the gap between training and evaluation says more
        for symptom in case.of("D319"):
            evidence = [for_symptom(symptom, STRONG + WEAK)]
            evidence += [for_symptom(s, FAIR) for s in case.of("D505", "D512", "D501", "D508")[:1]]
            if any(s.code[:2] in ("D1", "D2", "D4") and s.code not in _RESULTS for s in case.symptoms):
                evidence.append(Evidence("Something else is broken and would explain it.", -STRONG))
            origin = input_origin(case, inside=False)
            yield fault(
                self.code,
                evidence,
                component="training data",
                site=symptom.site or origin,
                summary=symptom.message,
                reason="So few samples say little about the task, and one epoch over them is hardly any training.",
                remedy="Train on more of the data: check how it is split. If there is no more, use a smaller or pretrained network.",
                refutation="Training on ten times as many samples is no better.",
                related=(origin,),
                explains=("D319", "D501", "D504", "D505", "D508", "D512"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = FewSamples.FAULTY
