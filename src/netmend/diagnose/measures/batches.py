"""What the fingerprints of batches say together: features in training and evaluation, order of labels, samples seen twice."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.heads import minimised
from netmend.vocabulary import BatchPrint, TargetFact, Trace
from netmend.vocabulary.table import FloatArray


@dataclass(frozen=True, eq=False)
class Features:
    """Mean and spread of every feature or channel, over all batches of a phase that were described."""

    mean: FloatArray
    std: FloatArray
    batches: int

    @property
    def rms(self) -> FloatArray:
        return np.asarray(np.sqrt(self.mean**2 + self.std**2))


def prints(trace: Trace, phase: str) -> list[BatchPrint]:
    return [batch for batch in trace.batches if batch.phase == phase]


@lru_cache(maxsize=32)
def features(trace: Trace, phase: str) -> Features | None:
    """Features of the model that was shown most batches; None when none were described (tokens, odd shapes)."""
    described = [batch for batch in prints(trace, phase) if batch.features and batch.feature_axis != "token"]
    if not described:
        return None
    common = Counter((batch.model, len(batch.features)) for batch in described).most_common(1)[0][0]
    rows = np.array([batch.features for batch in described if (batch.model, len(batch.features)) == common])
    means, stds = rows[:, :, 0], rows[:, :, 1]
    if not np.isfinite(means).any():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # features that were never finite have no mean
        mean = np.nanmean(np.where(np.isfinite(means), means, np.nan), axis=0)
        # Spread within batches and between them: data that comes sorted differs from batch to batch.
        inner = np.nanmean(np.where(np.isfinite(stds), stds, np.nan) ** 2, axis=0)
        outer = np.nanvar(np.where(np.isfinite(means), means, np.nan), axis=0)
    return Features(np.nan_to_num(mean), np.nan_to_num(np.sqrt(inner + outer)), len(rows))


def padding(trace: Trace) -> tuple[int, float] | None:
    """The token that fills sequences up, and its share; None when there are no token sequences or nothing fills them."""
    known = [
        batch.features[0]
        for batch in prints(trace, "training")
        if batch.feature_axis == "token" and batch.features
    ]
    if not known:
        return None
    tokens = Counter(int(row[0]) for row in known)
    token, times = tokens.most_common(1)[0]
    share = float(np.mean([row[1] for row in known]))
    ending = float(np.mean([row[2] for row in known]))
    # Padding is the most frequent token of nearly every batch, and many sequences end in it.
    return (token, share) if times >= 0.8 * len(known) and ending >= 0.3 and share >= 0.1 else None


@lru_cache(maxsize=16)
def class_counts(trace: Trace) -> dict[str, int]:
    """Labels of the training batches, counted; empty when a target is more than one label (one-hot, several labels)."""
    counts: Counter[str] = Counter()
    if not _one_label_each(trace):
        return {}
    for batch in prints(trace, "training"):
        counts.update(batch.labels)
    return dict(counts)


@lru_cache(maxsize=16)
def data_labels(trace: Trace) -> dict[str, int]:
    """Labels of the data, counted; empty where a program makes them up itself.

    Ones for real samples and zeros for made ones are the same for a whole batch. Where several losses are minimised in turn, a batch's
    labels are those of any of them; then the classes that one of them tells apart count.
    """
    trained = [loss for loss in minimised(trace) if any(o.role == "target" for o in loss.operands)]
    if len(trained) > 1:
        known = [target for loss in trained if (target := trace.get(TargetFact, loss.name)) is not None]
        told = [target.class_counts for target in known if target.class_counts]
        return dict(told[0]) if len(told) == 1 else {}
    several = [batch for batch in prints(trace, "training") if sum(batch.labels.values()) > 1]
    if several and all(len(batch.labels) == 1 for batch in several):
        return {}
    return class_counts(trace)


def mixture(trace: Trace) -> float | None:
    """How far each batch has the mix of labels of the whole: chance that two of its samples differ, over that of any two. 1: just as mixed."""
    counts = class_counts(trace)
    total = sum(counts.values())
    if len(counts) < 2:
        return None
    whole = 1 - sum((count / total) ** 2 for count in counts.values())
    differ = [
        (size, 1 - sum(count * (count - 1) for count in batch.labels.values()) / (size * (size - 1)))
        for batch in prints(trace, "training")
        if (size := sum(batch.labels.values())) > 1
    ]
    seen = sum(size for size, _ in differ)
    return sum(size * share for size, share in differ) / seen / whole if seen else None


def _one_label_each(trace: Trace) -> bool:
    trained = [loss for loss in trace.losses if loss.backward is not None]
    shapes = [operand.shape for loss in trained for operand in loss.operands if operand.role == "target"]
    return all(math.prod(shape[1:]) == 1 for shape in shapes)


def label_order(trace: Trace) -> tuple[float, int] | None:
    """How often neighbouring samples differ in label, relative to random order, and the number of neighbours seen."""
    counts = class_counts(trace)
    total = sum(counts.values())
    if len(counts) < 2 or not total:
        return None
    chance = 1 - sum((count / total) ** 2 for count in counts.values())
    pairs = changes = 0
    for batch in prints(trace, "training"):
        size = sum(batch.labels.values())
        if batch.label_changes is not None and size > 1:
            pairs += size - 1
            changes += batch.label_changes
    return (changes / pairs / chance, pairs) if pairs and chance > 0 else None


def target_drift(trace: Trace) -> tuple[float, int] | None:
    """Variance of batch means of real targets over what random batches would have, and the number of batches."""
    known = [
        b
        for b in prints(trace, "training")
        if b.target_mean is not None and b.target_std is not None and b.size > 1
    ]
    if len(known) < 2:
        return None
    means = np.array([batch.target_mean for batch in known])
    within = np.array([batch.target_std for batch in known])
    total = float(np.mean(within**2) + np.var(means))
    expected = total / float(np.median([batch.size for batch in known]))
    return (float(np.var(means)) / expected, len(known)) if expected > 0 else None
