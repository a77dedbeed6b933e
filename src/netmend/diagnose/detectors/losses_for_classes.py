"""Losses that do not suit classes: amounts of ids, weights of classes, labels smoothed away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.losses import given, run_of, wanted
from netmend.diagnose.measures.batches import class_counts, evenness, label_counts
from netmend.diagnose.measures.heads import Head, heads, minimised
from netmend.diagnose.measures.progress import progress
from netmend.library.losses import BINARY, DISTANCES
from netmend.unit import calibrated, convention, exact
from netmend.vocabulary import BatchPrint, LossFact, Symptom, Trace
from netmend.vocabulary.table import FloatArray

_EACH_BY_ITSELF = (*BINARY, "mse_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss")


def _batch(*counts: int, first: int = 0) -> BatchPrint:
    labels = {str(first + index): count for index, count in enumerate(counts)}
    return BatchPrint(0, "training", sum(counts), labels=labels)


class RegressionOnClassIds(Detector, code="D405", needs_fixed_data=True):
    """A loss for real values gets targets that look like class ids: 0, 1, 2 … about equally often.

    Class 7 is not "more" than class 2: a squared difference of ids punishes confusing 0 with 9 most and rewards answers in between.
    Usual causes: MSELoss or L1Loss where CrossEntropyLoss was meant. Counts, ranks and ratings are whole numbers too, so
    this alone proves nothing.
    """

    evenness_limit = calibrated(
        0.5,
        "rarest over most frequent id; counts and ratings have tails: those of own healthy programs stay below 0.45",
    )
    good_fit = convention(
        0.1, "of the best constant prediction's loss: amounts that a network can learn are met better"
    )
    least_samples = convention(12, "per id: fewer do not show how often it occurs")
    least_classes = convention(3, "the answer that matters is one of so many; with two that costs nothing")
    poor_fit = calibrated(
        0.5, "of the best constant prediction's loss; own healthy programs of this kind end below 0.4"
    )
    most_ids = convention(100, "more whole values than this are quantities")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for head in heads(trace):
            found = self._per_class(trace, head) or self._ids(trace, head) or self._exclusive(trace, head)
            if found is None:
                continue
            what, message, observed = found
            yield self.symptom(
                message,
                (head.loss.name, head.loss.line),
                observed=observed,
                limit=self.evenness_limit if what == "ids" else None,
                detail={
                    "what": what,
                    "classes": len(label_counts(trace)),
                    "width": head.width or 0,
                    "loss": head.loss.name,
                },
            )

    def extremes(self, trace: Trace) -> Mapping[str, float]:
        even = [value for head in heads(trace) if (value := self._evenness(trace, head)) is not None]
        fit = [value for head in heads(trace) if (value := self._share(trace, head)) is not None]
        return ({"evenness_limit": max(even)} if even else {}) | ({"poor_fit": max(fit)} if fit else {})

    def _evenness(self, trace: Trace, head: Head) -> float | None:
        target = head.target
        if head.loss.criterion not in DISTANCES or target is None or not target.integral:
            return None
        one = head.width == 1 or len(head.given.shape) == 1
        if not one or len(label_counts(trace)) > self.most_ids:
            return None
        return evenness(label_counts(trace), self.least_samples)

    def _ids(self, trace: Trace, head: Head) -> tuple[str, str, float | None] | None:
        even = self._evenness(trace, head)
        courses = (course for course in progress(trace) if course.loss == head.loss.name)
        share = next((course.last_relative for course in courses), None)
        if even is None or even < self.evenness_limit or (share is not None and share < self.good_fit):
            return None
        counts = label_counts(trace)
        message = (
            f"`{head.loss.criterion}` is for real values, but all targets are one of the {len(counts)} whole numbers "
            f"{min(counts):g} to {max(counts):g}, each about equally often."
        )
        return "ids", message, even

    def _per_class(self, trace: Trace, head: Head) -> tuple[str, str, float | None] | None:
        """As many outputs as there are ids, all compared with the id itself."""
        target, counts = head.target, label_counts(trace)
        if head.loss.criterion not in DISTANCES or target is None or not target.integral:
            return None
        shape = head.given.shape
        alone = len(shape) == 2 and target.shape in (shape[:1], (shape[0], 1)) and len(counts) >= 3
        if not alone or shape[1] < 3 or min(counts) < 0 or max(counts) >= shape[1]:
            return None
        message = (
            f"`{head.loss.criterion}` compares {shape[1]} outputs per sample with one integer between "
            f"{min(counts):g} and {max(counts):g}, as if every output should equal the class id."
        )
        return "scores against ids", message, None

    def _exclusive(self, trace: Trace, head: Head) -> tuple[str, str, float | None] | None:
        """One of many classes per sample, yet every class is asked for by itself; told where that is learned badly."""
        share, classes = self._share(trace, head), head.width
        if share is None or share <= self.poor_fit:
            return None
        message = (
            f"`{head.loss.criterion}` averages over {classes} yes/no outputs, although each sample has exactly one of the "
            f"{classes} classes; it ended at {share:.2g} times the loss of the best constant prediction."
        )
        return "exclusive", message, share

    def _share(self, trace: Trace, head: Head) -> float | None:
        """The final loss over that of the best constant prediction, where samples have exactly one of many classes."""
        target = head.target
        if head.loss.criterion not in _EACH_BY_ITSELF or target is None or not target.integral:
            return None
        one_each = len(target.shape) == 2 and 1 in target.normalised_axes and target.shape == head.given.shape
        if not one_each or (head.width or 0) < self.least_classes or head.rows < self.least_samples:
            return None
        courses = (course for course in progress(trace) if course.loss == head.loss.name)
        return next((course.last_relative for course in courses), None)

    HEALTHY = {
        "counts, small ones more often": lambda: run_of(
            "mse_loss", given(99, 1), wanted(99, 1, high=5), _batch(30, 30, 20, 12, 12, 13)
        ),
        "yes/no targets": lambda: run_of("mse_loss", given(60, 1), wanted(60, 1, high=1), _batch(30, 30)),
        "whole numbers that are quantities": lambda: run_of(
            "mse_loss", given(60, 1), wanted(60, 1, low=40, high=44), _batch(20, 20, 20, 20, 20, first=40)
        ),
        "ranks, each as often as the others, and learned": lambda: run_of(
            "mse_loss",
            given(80),
            wanted(80, dtype="float32"),
            _batch(20, 22, 18, 20),
            course=[1.0] * 8 + [0.05] * 16,
            constant=1.25,
        ),
        "real targets": lambda: run_of("mse_loss", given(60, 1), wanted(60, 1, whole=False)),
        "class ids into cross entropy": lambda: run_of(
            "cross_entropy", given(80, 4), wanted(80), _batch(20, 20, 20, 20)
        ),
        "one of twelve classes, each by itself, and learned": lambda: run_of(
            "binary_cross_entropy_with_logits",
            given(60, 12),
            wanted(60, 12, high=1, axes=[1]),
            course=[0.4] * 8 + [0.05] * 16,
            constant=0.29,
        ),
    }
    FAULTY = {
        "one output, ids as often as each other": lambda: run_of(
            "mse_loss", given(80), wanted(80, dtype="float32"), _batch(20, 22, 18, 20)
        ),
        "one output per class, compared with ids": lambda: run_of(
            "mse_loss", given(80, 4), wanted(80, 1, dtype="float32"), _batch(20, 22, 18, 20)
        ),
    }


def _measured(criterion: str, classes: int, integral: bool = True) -> Trace:
    target = wanted(32, classes, high=1, dtype="float32", whole=integral)
    return run_of(criterion, replace(target, mean=1 / classes))


class AbsoluteErrorOnClasses(Detector, code="D413", needs_fixed_data=True):
    """Absolute differences are taken between predictions and one-hot classes.

    With K classes, K − 1 of every K targets are zero: answering zero everywhere, or always the most frequent class, is already a local best, and the gradient does not say
    how wrong an answer is. Cross entropy does.
    """

    least_classes = exact(3, "with two classes the absolute error is no worse than others")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for loss in trace.losses:
            if loss.criterion != "l1_loss" or loss.backward is None:
                continue
            for operand in loss.operands:
                if (
                    operand.role == "target"
                    and operand.integral
                    and (operand.minimum, operand.maximum) == (0.0, 1.0)
                    and len(operand.shape) == 2
                    and operand.shape[1] >= self.least_classes
                    and operand.mean is not None
                    and abs(operand.mean * operand.shape[1] - 1) < 1e-3  # one of each row
                ):
                    message = f"`{loss.criterion}` compares predictions with one-hot targets of {operand.shape[1]} classes."
                    yield self.symptom(
                        message,
                        (loss.name, loss.line),
                        observed=float(operand.shape[1]),
                        limit=float(self.least_classes),
                        detail={"what": "one-hot"},
                    )

    HEALTHY = {
        "squared error works": lambda: _measured("mse_loss", 10),
        "soft targets": lambda: _measured("l1_loss", 10, integral=False),
    }
    FAULTY = {"absolute error on ten classes": lambda: _measured("l1_loss", 10)}


_BINARY = "binary_cross_entropy_with_logits"


def _weighted(counts: Sequence[int], weights: Sequence[float]) -> Trace:
    """A classification with class weights, and how often each class occurs in a batch."""
    scores, batches = given(16, len(counts)), [_batch(*counts)] * 5
    return run_of("cross_entropy", scores, wanted(16), *batches, reduction="mean", weight=list(weights))


def _yes_no(counts: Sequence[int], weight: float) -> Trace:
    batches = [_batch(*counts)] * 5
    return run_of(_BINARY, given(16, 1), wanted(16, 1, high=1), *batches, reduction="mean", pos_weight=weight)


class ClassWeightsWrong(Detector, code="D416", needs_fixed_data=True):
    """The weights of the classes in the loss favour the frequent classes, or belong to other classes.

    Weights make up for rare classes: the rarer a class, the more one of its samples counts. The other way round the rare classes are
    learned even less than without weights. Usual causes: counts given instead of their inverse, weights in another order than the class
    numbers, `pos_weight` as positives over negatives.
    """

    least_samples = convention(100, "training samples whose labels were seen")
    unequal = convention(2.0, "most frequent class over the rarest one, from which weights matter")
    uneven = convention(1.5, "largest over smallest weight that is meant as a weight at all")
    together = convention(0.9, "correlation of weights and counts, both as logarithms")
    exact = convention(0.15, "by which sorted weights may miss sorted inverse counts")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        counts = class_counts(trace)
        if sum(counts.values()) < self.least_samples or "0" not in counts:
            return
        for loss in minimised(trace):
            weights, seen = _weights(loss, counts)
            if weights is None or seen.max() < self.unequal * seen.min():
                continue
            if weights.max() < self.uneven * weights.min():
                continue
            how = self._wrong(weights, seen)
            if how:
                low, high = int(seen.argmin()), int(seen.argmax())
                message = (
                    f"The class weights {how}: class {low} has {_share(seen, low)} of the samples and weight {weights[low]:.3g}, "
                    f"class {high} has {_share(seen, high)} and weight {weights[high]:.3g}."
                )
                detail = {
                    "loss": loss.name,
                    "argument": "weight" if "weight" in loss.settings else "pos_weight",
                }
                yield self.symptom(
                    message, (loss.name, loss.line), float(weights[high] / weights[low]), 1.0, detail
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

    HEALTHY = {
        "inverse counts": lambda: _weighted((90, 30, 10), (0.4, 1.2, 3.6)),
        "milder than the counts": lambda: _weighted((90, 30, 10), (1.0, 1.5, 2.5)),
        "even classes": lambda: _weighted((40, 45, 42), (1.0, 2.0, 1.0)),
        "hardly any weights": lambda: _weighted((90, 10), (1.0, 0.8)),
        "one class counts for its own sake": lambda: _weighted((90, 30, 10), (1.0, 3.0, 1.0)),
        "yes is rare": lambda: _yes_no((90, 10), 9.0),
    }
    FAULTY = {
        "counts as weights": lambda: _weighted((90, 30, 10), (90, 30, 10)),
        "in another order": lambda: _weighted((90, 30, 10), (3.6, 0.4, 1.2)),
        "positives over negatives": lambda: _yes_no((90, 10), 0.11),
    }


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


class LabelsSmoothedAway(Detector, code="D418"):
    """Labels are smoothed so much that the true class keeps the smaller part of each target.

    `label_smoothing` takes this share of every target from the true class and spreads it over all classes; 0.1 is usual. Beyond
    one half the best answer is hardly surer of the true class than of any other, and the loss stays near that of guessing.
    Usual cause: the share that the true class should keep was written down instead.
    """

    most = exact(0.5, "of the target; above it the true class keeps less than is given away")

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        for loss in trace.losses:
            share = loss.settings.get("label_smoothing")
            if isinstance(share, int | float) and share > self.most:
                message = f"`{loss.criterion}` smooths labels by {share:g}: the true class keeps {1 - share:.0%} of each target, all classes share the rest."
                yield self.symptom(message, loss.name, float(share), self.most, site=loss.line)

    HEALTHY = {
        "the usual share": lambda: _smoothed(0.1),
        "half, as some teachers have it": lambda: _smoothed(0.5),
    }
    FAULTY = {"the share to keep taken for the share to give away": lambda: _smoothed(0.9)}


def _smoothed(share: float) -> Trace:
    return run_of("cross_entropy", given(16, 3), wanted(16), reduction="mean", label_smoothing=share)
