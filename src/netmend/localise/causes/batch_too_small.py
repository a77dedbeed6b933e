"""HYP-BATCH-SMALL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detectors.batches import BatchTooSmall as Detector
from netmend.diagnose.measures.data import training_loader, training_samples
from netmend.diagnose.measures.objective import objective
from netmend.localise.case import Case
from netmend.localise.cause import FAIR, STRONG, WEAK, fault, for_symptom, register
from netmend.localise.lines.batch_line import batch_size_line
from netmend.localise.lines.data_origin import loader_site
from netmend.unit import Run, threshold
from netmend.vocabulary import Evidence, Fault

_NOISE_SHOWS = (
    "D502",
    "D503",
)  # the loss swings or climbs: what gradients of single samples do where they harm


@register
class BatchTooSmall:
    """Batches are too small.

    Gradients of one or two samples are mostly noise, and batch normalisation cannot estimate anything from them. Without batch normalisation
    this is told only where the loss swings or climbs: many programs train on single samples on purpose, and learn. Use 16 to 128
    samples, accumulate gradients over several batches, or use GroupNorm or LayerNorm.
    """

    code: ClassVar[str] = "HYP-BATCH-SMALL"

    good_relative: float = threshold(
        0.3, "convention", "a program that learns as well as that is not hindered"
    )

    poor_relative: float = threshold(0.5, "convention", "a loss that high at the end was hardly learned")

    least_samples: int = threshold(50, "convention", "samples of which single ones are drawn")

    def accuse(self, case: Case) -> Iterator[Fault]:
        for symptom in case.of("D313"):
            normed = bool(symptom.detail.get("normed"))
            if not normed and not any(case.first(code) for code in _NOISE_SHOWS):
                continue  # many train on single samples on purpose, and well
            # One sample that is the whole set (a condition at a point) is no batch.
            alone = (
                symptom.detail.get("size") == 1 and (training_samples(case.trace) or 0) >= self.least_samples
            )
            evidence = [for_symptom(symptom, STRONG + FAIR if normed else FAIR + WEAK if alone else FAIR)]
            for code in ("D503", "D502", "D501", "D504", "D605"):
                if (found := case.first(code)) is not None:
                    evidence.append(for_symptom(found, FAIR))
            course = objective(case.trace)
            if (
                course is not None
                and course.last_relative is not None
                and course.last_relative < self.good_relative
            ):
                evidence.append(Evidence(f"The program learns anyway ({course.last_relative:.2f}).", -STRONG))
            reached = None if course is None else course.last_relative
            if alone and reached is not None and reached > self.poor_relative:
                evidence.append(
                    Evidence(
                        f"The loss ended at {reached:.2f} times that of the best constant prediction.", WEAK
                    )
                )
            loader = training_loader(case.trace)
            yield fault(
                self.code,
                evidence,
                component="training data" if loader is None else loader.name,
                site=batch_size_line(case),
                summary=symptom.message,
                reason="Statistics and gradients of so few samples are mostly noise.",
                remedy="Use batches of 16 to 128 samples, or accumulate gradients over several batches; with batches this small, replace batch norm with GroupNorm.",
                refutation="The loss is no better with batches of 64.",
                related=(loader_site(case),),
                explains=("D503", "D504", "D605"),
            )

    FAULTY: ClassVar[tuple[Run, ...]] = Detector.FAULTY[:1]
