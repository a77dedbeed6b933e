"""HYP-BATCH-LARGE, HYP-BATCH-NONE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.batches import FewUpdates
from netmend.diagnose.measures.data import training_loader
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.batch_line import batch_size_line
from netmend.localise.lines.data_origin import loader_site
from netmend.unit import Run
from netmend.vocabulary import Fault


@register
class BatchTooLarge:
    """Batches are so large that there are hardly any updates.

    Every update uses (nearly) all samples, so a whole pass over the data moves the weights once or a few times. Batches of 32 to 256 samples give many more updates
    for the same work.
    """

    code: ClassVar[str] = "HYP-BATCH-LARGE"

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D314"):
            evidence = [for_symptom(symptom, STRONG)]
            for code in ("D505", "D501", "D508"):
                if (found := case.first(code)) is not None:
                    evidence.append(for_symptom(found, FAIR + WEAK if code == "D505" else FAIR))
            loader = training_loader(case.trace)
            none = loader is None and bool(symptom.detail.get("whole"))
            yield fault(
                "HYP-BATCH-NONE" if none else self.code,
                evidence,
                component="training data" if loader is None else loader.name,
                site=batch_size_line(case),
                summary=symptom.message,
                reason="The weights change once per batch, so little is learned in so few updates.",
                remedy="Use batches of 32 to 256 samples.",
                refutation="With batches of 64 the loss falls no faster per epoch.",
                related=(loader_site(case),),
                explains=("D505", "D508", "D501"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = FewUpdates.FAULTY
