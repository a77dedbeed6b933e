"""D416 ClassWeightsWrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from netmend.diagnose.detector import register
from netmend.diagnose.measures.batches import class_counts
from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.loss_examples import given, run_of, wanted
from netmend.unit import Run, threshold
from netmend.vocabulary import BatchPrint, LossFact, Symptom, Trace
from netmend.vocabulary.table import FloatArray

_BINARY = "binary_cross_entropy_with_logits"


def _trace(counts: Sequence[int], weights: Sequence[float]) -> Trace:
    """A classification with class weights, and how often each class occurs in a batch."""
    labels = {str(index): count for index, count in enumerate(counts)}
    return run_of(
        "cross_entropy",
        given(16, len(counts)),
        wanted(16),
        settings={"reduction": "mean", "weight": list(weights)},
        batches=[BatchPrint(step, "training", sum(counts), labels=labels) for step in range(5)],
    )


def _yes_no(counts: Sequence[int], weight: float) -> Trace:
    labels = {str(index): count for index, count in enumerate(counts)}
    return run_of(
        _BINARY,
        given(16, 1),
        wanted(16, 1, high=1),
        settings={"reduction": "mean", "pos_weight": weight},
        batches=[BatchPrint(step, "training", sum(counts), labels=labels) for step in range(5)],
    )


@register
class ClassWeightsWrong:
    """The weights of the classes in the loss favour the frequent classes, or belong to other classes.

    Weights make up for rare classes: the rarer a class, the more one of its samples counts. The other way round the rare classes are
    learned even less than without weights. Usual causes: counts given instead of their inverse, weights in another order than the class
    numbers, `pos_weight` as positives over negatives.
    """

    code: ClassVar[str] = "D416"

    least_samples: int = threshold(100, "convention", "training samples whose labels were seen")
    unequal: float = threshold(
        2.0, "convention", "most frequent class over the rarest one, from which weights matter"
    )
    uneven: float = threshold(
        1.5, "convention", "largest over smallest weight that is meant as a weight at all"
    )
    together: float = threshold(0.9, "convention", "correlation of weights and counts, both as logarithms")
    exact: float = threshold(0.15, "convention", "by which sorted weights may miss sorted inverse counts")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        counts = class_counts(trace)
        if sum(counts.values()) < self.least_samples or "0" not in counts:
            return
        for loss in minimised(trace):
            weights, seen = _weights(loss, counts)
            if (
                weights is None
                or seen.max() < self.unequal * seen.min()
                or weights.max() < self.uneven * weights.min()
            ):
                continue
            how = self._wrong(weights, seen)
            if how:
                low, high = int(seen.argmin()), int(seen.argmax())
                yield Symptom(
                    self.code,
                    f"The class weights {how}: class {low} has {_share(seen, low)} of the samples and weight {weights[low]:.3g}, "
                    f"class {high} has {_share(seen, high)} and weight {weights[high]:.3g}.",
                    component=loss.name,
                    observed=float(weights[high] / weights[low]),
                    limit=1.0,
                    site=loss.created or loss.called,
                    detail={
                        "loss": loss.name,
                        "argument": "weight" if "weight" in loss.settings else "pos_weight",
                    },
                )

    def _wrong(self, weights: FloatArray, counts: FloatArray) -> str:
        given, rare = np.log(weights), -np.log(counts)
        given, rare = given - given.mean(), rare - rare.mean()
        alike = float(given @ rare / (np.linalg.norm(given) * np.linalg.norm(rare)))
        if alike < -self.together:
            return "grow with the number of samples"
        moved = np.abs(np.sort(given) - np.sort(rare)).max() < self.exact
        # The very weights that would make up for the counts, but not each at its class.
        return "belong to other classes" if moved and np.abs(given - rare).max() > 1.0 else ""

    HEALTHY: ClassVar[tuple[Run, ...]] = (
        Run("inverse counts", lambda: _trace((90, 30, 10), (0.4, 1.2, 3.6))),
        Run("milder than the counts", lambda: _trace((90, 30, 10), (1.0, 1.5, 2.5))),
        Run("even classes", lambda: _trace((40, 45, 42), (1.0, 2.0, 1.0))),
        Run("hardly any weights", lambda: _trace((90, 10), (1.0, 0.8))),
        Run("one class counts for its own sake", lambda: _trace((90, 30, 10), (1.0, 3.0, 1.0))),
        Run("yes is rare", lambda: _yes_no((90, 10), 9.0)),
    )
    FAULTY: ClassVar[tuple[Run, ...]] = (
        Run("counts as weights", lambda: _trace((90, 30, 10), (90, 30, 10))),
        Run("in another order", lambda: _trace((90, 30, 10), (3.6, 0.4, 1.2))),
        Run("positives over negatives", lambda: _yes_no((90, 10), 0.11)),
    )


def _weights(loss: LossFact, counts: dict[str, int]) -> tuple[FloatArray | None, FloatArray]:
    """The weight of each class and its number of samples; None where they are not known for every class."""
    weights = loss.settings.get("weight")
    if loss.criterion == _BINARY:
        positive = loss.settings.get("pos_weight")
        weights = (1.0, positive) if isinstance(positive, int | float) and set(counts) == {"0", "1"} else None
    elif loss.criterion not in ("cross_entropy", "nll_loss"):
        weights = None
    if not isinstance(weights, list | tuple) or len(weights) < 2:
        return None, np.empty(0)
    seen = np.array([counts.get(str(index), 0) for index in range(len(weights))], dtype=np.float64)
    known = np.asarray(weights, dtype=np.float64)
    return (known, seen) if (seen > 0).all() and (known > 0).all() else (None, seen)


def _share(counts: FloatArray, index: int) -> str:
    return f"{counts[index] / counts.sum():.0%}"
