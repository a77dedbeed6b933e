"""API-SHUFFLE-POS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.batches import NotShuffled
from netmend.diagnose.measures.data import training_loader
from netmend.diagnose.measures.objective import objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.data_origin import loader_site
from netmend.localise.lines.follow import argument_origin
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault


@register
class DataNotShuffled:
    """The training data is not shuffled, and comes sorted.

    Each batch holds one kind of samples and pulls the network towards them; the next batch undoes it. Shuffle the training
    data anew in every epoch: `DataLoader(..., shuffle=True)`.
    """

    code: ClassVar[str] = "API-SHUFFLE-POS"

    good_relative: float = threshold(
        0.1, "convention", "a program that learns as well as that does not suffer from the order"
    )

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D308"):
            # Targets that differ from batch to batch may belong to a series in its order: that must hurt to be a fault.
            drifting = symptom.detail.get("by") == "drift"
            evidence = [for_symptom(symptom, FAIR + WEAK / 2 if drifting else STRONG + FAIR)]
            for code in ("D503", "D501", "D502", "D511", "D504"):
                if (found := case.first(code)) is not None:
                    evidence.append(for_symptom(found, FAIR))
                    break
            course = objective(case.trace)
            if (
                course is not None
                and course.last_relative is not None
                and course.last_relative < self.good_relative
            ):
                evidence.append(Evidence(f"The program learns anyway ({course.last_relative:.2f}).", -FAIR))
            loader = training_loader(case.trace)
            origin = argument_origin(case.sources, None if loader is None else loader.created, "shuffle", 2)
            site = loader_site(case) if origin is None else origin.site
            call = (
                "Give the loader `shuffle=True`."
                if loader is not None
                else "Draw the batches from a new `torch.randperm(len(x))` in every epoch."
            )
            yield fault(
                self.code,
                evidence,
                component=symptom.component or "training data",
                site=site,
                summary=symptom.message,
                reason="Every batch pulls the network towards its own class, and the next one undoes it.",
                remedy=call,
                refutation="The order is intended (a stream in time order, say), and a shuffled run learns no better.",
                related=(symptom.site, loader_site(case)),
                explains=("D503", "D501", "D502", "D511", "D504", "D510"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = NotShuffled.FAULTY[:1]
