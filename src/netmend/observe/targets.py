"""Targets: what a loss is asked to predict, what kind of problem that is, and the loss of the best constant prediction.

s = loss / loss of the best constant prediction is the one scale-free measure of "has it learned anything" that
holds for every criterion: 1 means no better than ignoring the input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netmend.library.losses import DISTANCES
from netmend.vocabulary import LossFact, OperandFact, TaskFact
from netmend.vocabulary.table import FloatArray, IntArray

REAL = (*DISTANCES, "poisson_nll_loss")
_SAMPLE = 4096  # numbers kept of real targets
_ROUNDING = 1e-13  # of the square of a mean, as targets of single precision have it

_HALVINGS = 18  # leave 1/260,000 of the range


@dataclass
class Targets:
    """Sufficient statistics of the targets of one loss; grows with every batch it is shown."""

    counts: IntArray | None = None  # class index → number of samples
    weight: float = 0.0  # rows seen of real or probability targets
    total: FloatArray | None = None  # per column
    squares: FloatArray | None = None
    elements_per_batch: float = 0.0  # of the loss, for reduction="sum"
    batches: int = 0
    sample: FloatArray | None = None  # first rows of real targets (some columns of wide ones), for medians
    _pooled: bool = False

    def add_classes(self, counts: IntArray) -> None:
        if self.counts is None or len(self.counts) < len(counts):
            grown = np.zeros(len(counts), dtype=np.int64)
            if self.counts is not None:
                grown[: len(self.counts)] = self.counts
            self.counts = grown
        self.counts[: len(counts)] += counts
        self._count_batch(int(counts.sum()))

    def add_values(self, rows: int, total: FloatArray, squares: FloatArray, sample: FloatArray) -> None:
        """`total` and `squares` are sums over `rows` rows, per column; `sample` holds a few rows themselves."""
        self._count_batch(rows * len(total))
        self._pooled |= self.total is not None and len(self.total) != len(total)
        if self._pooled:  # sequences of several lengths: their columns are no quantities of their own
            rows, total, squares = rows * len(total), total.sum(keepdims=True), squares.sum(keepdims=True)
            sample = sample.reshape(-1, 1)
            self._pool()
        if self.total is None or self.squares is None or self.sample is None:
            self.total, self.squares, self.sample = total.copy(), squares.copy(), sample
        else:
            self.total += total
            self.squares += squares
            if self.sample.size < _SAMPLE:
                self.sample = np.concatenate([self.sample, sample])
        self.weight += rows

    def _pool(self) -> None:
        """One column from now on."""
        if self.total is None or self.squares is None or self.sample is None:
            return
        self.weight *= len(self.total)
        self.total, self.squares = self.total.sum(keepdims=True), self.squares.sum(keepdims=True)
        self.sample = self.sample.reshape(-1, 1)

    def _count_batch(self, elements: int) -> None:
        self.elements_per_batch += (elements - self.elements_per_batch) / (self.batches + 1)
        self.batches += 1

    @property
    def samples(self) -> int:
        return int(self.counts.sum()) if self.counts is not None else int(self.weight)

    @property
    def means(self) -> FloatArray | None:
        return self.total / self.weight if self.total is not None and self.weight else None

    @property
    def variances(self) -> FloatArray | None:
        means = self.means
        if means is None or self.squares is None:
            return None
        found = self.squares / self.weight - means**2
        # What is left of equal numbers by rounding is no spread.
        return np.where(found <= _ROUNDING * means**2, 0.0, found)

    def constant_loss(self, criterion: str, settings: Mapping[str, Any]) -> float | None:
        """Loss of the best predictor that ignores its input, under the same criterion; None when not known."""
        value = self._per_element(criterion, settings)
        if value is None or not math.isfinite(value):
            return None
        if settings.get("reduction") == "sum":
            value *= self.elements_per_batch
        elif settings.get("reduction") == "batchmean" and self.weight:
            value *= len(self.total) if self.total is not None else 1
        return value

    def _per_element(self, criterion: str, settings: Mapping[str, Any]) -> float | None:
        if criterion in ("cross_entropy", "nll_loss"):
            if self.counts is not None and self.counts.sum():
                return _class_entropy(self.counts, settings)
            means = self.means  # targets given as probabilities
            if means is None or criterion != "cross_entropy" or self._pooled:
                return None
            # Unlike with class ids, the mean is over samples whatever the weights; a sum counts rows, not numbers.
            unit = len(means) if settings.get("reduction") == "sum" else 1
            return _class_entropy(means, {**settings, "reduction": "sum"}) / unit
        if criterion in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
            return self._binary(settings)
        if criterion == "mse_loss":
            variances = self.variances
            return float(variances.mean()) if variances is not None else None
        if criterion in ("l1_loss", "smooth_l1_loss", "huber_loss"):
            return self._robust(criterion, settings)
        return None

    def _binary(self, settings: Mapping[str, Any]) -> float | None:
        means = self.means
        if means is None:
            return None
        factor = np.asarray(settings.get("pos_weight", 1.0), dtype=np.float64)
        positive = np.clip(means, 0.0, 1.0) * (
            factor if factor.ndim == 0 or len(factor) == len(means) else 1.0
        )
        negative = 1.0 - np.clip(means, 0.0, 1.0)
        share = positive / np.maximum(positive + negative, 1e-300)
        return float(np.mean(-positive * _log(share) - negative * _log(1.0 - share)))

    def _robust(self, criterion: str, settings: Mapping[str, Any]) -> float | None:
        values = self.sample
        if values is None or not values.size:
            return None
        middle = np.median(values, axis=0)
        if criterion == "l1_loss":
            return float(np.abs(values - middle).mean())
        delta = float(settings.get("beta" if criterion == "smooth_l1_loss" else "delta") or 1.0)
        low, high = values.min(axis=0), values.max(axis=0)
        for _ in range(
            _HALVINGS
        ):  # convex in each column's constant: its slope says on which side the best one is
            constant = (low + high) / 2
            above = np.minimum(np.maximum(values - constant, -delta), delta).sum(axis=0) > 0
            low, high = np.where(above, constant, low), np.where(above, high, constant)
        best = _huber(values - (low + high) / 2, delta)
        return float(best.mean() / (delta if criterion == "smooth_l1_loss" else 1.0))


def _huber(difference: FloatArray, delta: float) -> FloatArray:
    """Mean Huber loss per column."""
    distance = np.abs(difference)
    losses: FloatArray = np.where(distance < delta, 0.5 * distance**2, delta * (distance - 0.5 * delta))
    return np.asarray(losses.mean(axis=0))


def _class_entropy(counts: IntArray | FloatArray, settings: Mapping[str, Any]) -> float:
    """Cross entropy of the class priors, weighted and smoothed as the criterion does it."""
    smoothing = float(settings.get("label_smoothing") or 0.0)
    classes = max(int(settings.get("classes") or 0), len(counts))
    amounts = np.zeros(classes)
    amounts[: len(counts)] = counts
    given = settings.get("weight")
    weights = np.asarray(given, dtype=np.float64) if isinstance(given, list | tuple) else np.ones(classes)
    if len(weights) != classes:
        weights = np.ones(classes)
    weighted = max(float((weights * amounts).sum()), 1e-300)
    # The criterion divides by the weights of the true classes, and weights what is smoothed over all classes too.
    shares = weights * ((1.0 - smoothing) * amounts + smoothing * amounts.sum() / classes) / weighted
    loss = shares.sum() * _entropy(shares / max(shares.sum(), 1e-300))
    return float(loss * weighted / amounts.sum()) if settings.get("reduction") == "sum" else float(loss)


def _entropy(shares: FloatArray) -> float:
    return float(-(shares * _log(shares)).sum())


def _log(values: FloatArray) -> FloatArray:
    return np.log(np.maximum(values, 1e-300))


# What kind of problem a loss is about, judged by what the loss is given rather than by names.

_FEW = 20  # whole-numbered real targets with at most this many values look like class ids


def task_of(loss: LossFact) -> TaskFact:
    """The task behind a loss, with the evidence, in sentences."""
    prediction = next((o for o in loss.operands if o.role == "prediction"), None)
    target = next((o for o in loss.operands if o.role == "target"), None)
    if target is None or prediction is None:
        return TaskFact(loss.name, "other", evidence=(f"the objective {loss.name} shows no target",))
    shown = (
        f"the loss is given predictions {_shape(prediction)} and targets {_shape(target)} of {target.dtype}"
    )
    if loss.criterion in ("cross_entropy", "nll_loss", "multi_margin_loss"):
        return _classes(loss, prediction, target, shown)
    if loss.criterion in (
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "multilabel_soft_margin_loss",
    ):
        return _binary(loss, target, shown)
    if loss.criterion in (
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "poisson_nll_loss",
        "gaussian_nll_loss",
    ):
        evidence = [shown, f"{loss.criterion} compares real values"]
        if target.integral and target.distinct is not None and target.distinct <= _FEW:
            evidence.append(f"yet the targets take only {target.distinct} whole values, as class ids do")
        return TaskFact(loss.name, "regression", evidence=tuple(evidence))
    return TaskFact(loss.name, "other", evidence=(shown, f"{loss.criterion} does not tell the kind of task"))


def _classes(loss: LossFact, prediction: OperandFact, target: OperandFact, shown: str) -> TaskFact:
    axis = 0 if len(prediction.shape) == 1 else 1
    classes = prediction.shape[axis] if prediction.shape else None
    positions = len(prediction.shape) > 2 or loss.settings.get("sequence", False)
    kind = "sequence" if positions else "classification"
    return TaskFact(
        loss.name, kind, classes, (shown, f"axis {axis} of the predictions holds {classes} classes")
    )


def _binary(loss: LossFact, target: OperandFact, shown: str) -> TaskFact:
    width = target.shape[-1] if len(target.shape) > 1 else 1
    if width > 1 and target.integral:
        return TaskFact(loss.name, "multi-label", width, (shown, f"{width} yes/no targets per sample"))
    if not target.integral:
        return TaskFact(loss.name, "regression", None, (shown, "targets between 0 and 1 are not all 0 or 1"))
    return TaskFact(loss.name, "binary", 2, (shown, "one yes/no target per sample"))


def _shape(operand: OperandFact) -> str:
    return "[" + ", ".join(map(str, operand.shape)) + "]"
