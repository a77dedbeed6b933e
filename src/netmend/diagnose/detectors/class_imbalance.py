"""D307 ClassImbalance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import data_labels
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, LossFact, OperandFact, Site, Symptom, TargetFact, Trace


def _trace(counts: dict[str, int]) -> Trace:
    return Trace(
        batches=tuple(BatchPrint(step, "training", sum(counts.values()), labels=counts) for step in range(6))
    )


def _made_up() -> Trace:
    labels = ({"1": 32}, {"1": 32}, {"0": 2}) * 6
    return Trace(
        batches=tuple(
            BatchPrint(step, "training", sum(counts.values()), labels=counts)
            for step, counts in enumerate(labels)
        )
    )


def _drawn_beside() -> Trace:
    """Of the batches that were looked at, most show the ones and zeros of the adversarial loss."""
    real, drawn = "mse_loss@train.py:20", "cross_entropy@train.py:24"
    losses = {
        name: LossFact(
            name,
            name.partition("@")[0],
            operands=(OperandFact("prediction", shape), OperandFact("target", (32,))),
            backward=Site("train.py", 30),
        )
        for name, shape in ((real, (32, 1)), (drawn, (32, 10)))
    }
    target = TargetFact(drawn, 320, {str(label): 32 for label in range(10)})
    batches = _trace({"1": 97, "0": 2, "5": 1}).batches
    return Trace(facts={"loss": losses, "target": {drawn: target}}, batches=batches)


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
        counts = data_labels(trace)
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
        Run("ones for real samples, zeros for made ones", _made_up),
        Run("a loss on drawn classes beside one on ones and zeros", _drawn_beside),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (Run("97 to 3", lambda: _trace({"0": 97, "1": 3})),)
