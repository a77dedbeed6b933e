"""D312 EvaluationClassesUnseen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import class_counts, prints
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, Symptom, Trace


def _trace(training: dict[str, int], evaluation: dict[str, int]) -> Trace:
    return Trace(
        batches=(
            *(BatchPrint(step, "training", sum(training.values()), labels=training) for step in range(6)),
            BatchPrint(6, "evaluation", sum(evaluation.values()), labels=evaluation),
        )
    )


@register
class EvaluationClassesUnseen:
    """Evaluation contains classes that training never shows.

    No network can answer them. Usual causes: data sorted by class and cut in two without shuffling, a split by a column that goes with the label.
    """

    code: ClassVar[str] = "D312"

    share_limit: float = threshold(
        0.3, "calibrated", "share of evaluation labels that training never showed; healthy programs show none"
    )
    least_in_batch: int = threshold(10, "convention", "labels in an evaluation batch that is judged")
    least_labels: int = threshold(100, "convention", "training labels that must have been seen to say never")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        share = self.extremes(trace).get("share_limit", 0.0)
        if share < self.share_limit:
            return
        new = sorted(set(_evaluated(trace)) - set(class_counts(trace)))
        named = ", ".join(new[:5]) + (", …" if len(new) > 5 else "")
        yield Symptom(
            self.code,
            f"{share:.0%} of the labels in an evaluation are classes that never occur in training ({named}).",
            observed=share,
            limit=self.share_limit,
        )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        trained = class_counts(trace)
        if sum(trained.values()) < self.least_labels or len(trained) < 2:
            return {}
        shares = [
            sum(count for name, count in batch.labels.items() if name not in trained)
            / sum(batch.labels.values())
            for batch in prints(trace, "evaluation")
            if len(batch.labels) and sum(batch.labels.values()) >= self.least_in_batch
        ]
        return {"share_limit": max(shares)} if shares else {}

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("the same classes", lambda: _trace({"0": 20, "1": 20}, {"0": 9, "1": 11})),
        Run(
            "a rare class that training has not shown yet",
            lambda: _trace({"0": 20, "1": 20}, {"0": 50, "1": 48, "2": 2}),
        ),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("sorted, then cut", lambda: _trace({"0": 20, "1": 20}, {"2": 30})),
    )


def _evaluated(trace: Trace) -> Counter[str]:
    counts: Counter[str] = Counter()
    for batch in prints(trace, "evaluation"):
        counts.update(batch.labels)
    return counts
