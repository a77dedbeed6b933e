"""D309 TrainingEvaluationOverlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import prints
from netmend.diagnose.measures.data import training_samples
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, Symptom, Trace


def _trace(training: range, evaluation: range) -> Trace:
    return Trace(
        batches=(
            *(BatchPrint(step, "training", len(training), hashes=tuple(training)) for step in range(3)),
            BatchPrint(3, "evaluation", len(evaluation), hashes=tuple(evaluation)),
        )
    )


@register
@dataclass(frozen=True)
class TrainingEvaluationOverlap:
    """Samples on which the program is evaluated were trained on.

    The figures of the evaluation then say how well samples are remembered, not how well new ones are answered. Usual causes: slices that
    overlap, duplicates in the data, splitting after oversampling or augmentation.
    """

    code: ClassVar[str] = "D309"

    share_limit: float = threshold(
        0.03,
        "calibrated",
        "share of different evaluation samples seen in training; healthy programs show none",
    )
    least_samples: int = threshold(8, "convention", "evaluation samples seen in training, at least")
    copies_limit: float = threshold(
        0.02,
        "convention",
        "share of equal samples within the evaluation itself: inputs with few values repeat by chance",
    )
    subset_limit: float = threshold(
        0.6, "convention", "an evaluation of all training samples measures the training accuracy on purpose"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = self._overlap(trace)
        if found is None:
            return
        common, distinct, trained = found
        share = common / distinct
        if common < self.least_samples or share < self.share_limit:
            return
        if share > 0.9 and distinct > self.subset_limit * trained:
            return
        yield Symptom(
            self.code,
            f"{common} of {distinct} different evaluation samples looked at were also trained on.",
            observed=share,
            limit=self.share_limit,
            detail={"share": share, "common": common, "whole": share > 0.9},
        )

    def _overlap(self, trace: Trace) -> tuple[int, int, int] | None:
        trained = {value for batch in prints(trace, "training") for value in batch.hashes}
        common, evaluated = set(), set()
        for batch in prints(trace, "evaluation"):
            own = set(batch.hashes)
            if not own or len(own) < (1 - self.copies_limit) * len(batch.hashes):
                continue
            shared = own & trained
            # The training set itself may be evaluated too: batches that lie wholly in it are another matter than mixed ones.
            evaluated |= own
            common |= shared
        if not evaluated or not trained:
            return None
        return len(common), len(evaluated), max(len(trained), training_samples(trace) or 0)

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        found = self._overlap(trace)
        if found is None:
            return {}
        common, distinct, trained = found
        whole = common > 0.9 * distinct and distinct > self.subset_limit * trained
        return {} if whole else {"share_limit": common / distinct}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("apart", _trace(range(400), range(1000, 1100))),
        Run("training accuracy is measured on purpose", _trace(range(400), range(400))),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("slices overlap", _trace(range(400), range(350, 450))),)
