"""D307 ClassImbalance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import class_counts
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, Symptom, Trace


def _trace(counts: dict[str, int]) -> Trace:
    return Trace(
        batches=tuple(BatchPrint(step, "training", sum(counts.values()), labels=counts) for step in range(6))
    )


@register
class ClassImbalance:
    """The classes that training batches show are strongly unbalanced.

    A network that always gives the frequent class is right most of the time and has little reason to change. Imbalance alone is no
    fault; together with classes that are never predicted it is.
    """

    code: ClassVar[str] = "D307"

    share_limit: float = threshold(0.85, "convention", "share of the most frequent class")
    perplexity_limit: float = threshold(
        0.5, "published", "normalised perplexity, as proposed for SageMaker's rule"
    )
    even_limit: float = threshold(0.75, "convention", "normalised perplexity above which no class stands out")
    least_samples: int = threshold(100, "convention", "labels needed to know the frequencies")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        counts = class_counts(trace)
        total = sum(counts.values())
        if total < self.least_samples or len(counts) < 2:
            return
        name, most = max(counts.items(), key=lambda item: item[1])
        entropy = -sum(n / total * math.log(n / total) for n in counts.values() if n)
        perplexity = math.exp(entropy) / len(counts)
        if most / total < self.share_limit and perplexity > self.perplexity_limit:
            return
        if perplexity > self.even_limit:
            return
        rarest = min(counts.values())
        yield Symptom(
            self.code,
            f"{most / total:.0%} of the training labels are class {name}; the rarest class has {rarest / total:.1%}.",
            observed=most / total,
            limit=self.share_limit,
            detail={"majority": most / total, "class": name, "rarest": rarest / total},
        )

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("balanced", lambda: _trace({"0": 20, "1": 18, "2": 22})),
        Run("mildly unbalanced", lambda: _trace({"0": 45, "1": 15})),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("97 to 3", lambda: _trace({"0": 97, "1": 3})),)
