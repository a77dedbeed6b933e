"""Data as it was seen: how much there is, its batches, labels, and the scale of its values."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netmend.diagnose.measures.heads import minimised
from netmend.diagnose.measures.loop import batches_per_step
from netmend.vocabulary import BatchPrint, LoaderFact, TargetFact, Trace
from netmend.vocabulary.table import FloatArray


def training_loader(trace: Trace) -> LoaderFact | None:
    """The loader that feeds training steps."""
    marked = [loader for loader in trace.loaders if loader.phase == "training"]
    return marked[0] if len(marked) == 1 else None


@lru_cache(maxsize=16)
def training_samples(trace: Trace) -> int | None:
    """Number of different training samples; None when it cannot be known."""
    loader = training_loader(trace)
    if loader is not None and loader.samples:
        return loader.samples
    seen: set[int] = set()
    repeated = 0
    for batch in trace.batches:
        if batch.phase == "training":
            repeated += sum(value in seen for value in batch.hashes)
            seen.update(batch.hashes)
    # Only when samples come again has the whole set been seen, more or less.
    return len(seen) if repeated >= len(seen) > 0 else None


def batch_size(trace: Trace) -> int | None:
    """Samples in a usual training batch."""
    loader = training_loader(trace)
    if loader is not None and loader.batch_size:
        return loader.batch_size
    sizes = sorted(batch.size for batch in trace.batches if batch.phase == "training" and batch.size)
    return sizes[len(sizes) // 2] if sizes else None


def epochs(trace: Trace) -> float | None:
    """How often every training sample was seen."""
    samples, size = training_samples(trace), batch_size(trace)
    return trace.run.steps * batches_per_step(trace) * size / samples if samples and size else None


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
    trained = [loss for loss in minimised(trace) if loss.target is not None]
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
    trained = (loss.target for loss in trace.losses if loss.backward is not None)
    return all(math.prod(target.shape[1:]) == 1 for target in trained if target is not None)


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


@lru_cache(maxsize=16)
def label_counts(trace: Trace) -> dict[float, int]:
    """Value of a training target → number of samples; empty when targets are not whole numbers."""
    counts: Counter[float] = Counter()
    for batch in trace.batches:
        if batch.phase == "training":
            for label, count in batch.labels.items():
                counts[float(label)] += count
    return dict(counts)


def evenness(counts: dict[float, int], least: int) -> float | None:
    """Rarest over most frequent value of numbers that run without gaps from 0 or 1; None for anything else."""
    values = sorted(counts)
    if len(values) < 3 or sum(counts.values()) < least * len(values):
        return None
    if values[0] not in (0.0, 1.0) or values != [values[0] + index for index in range(len(values))]:
        return None
    return min(counts.values()) / max(counts.values())


_MEAN_LIMIT = 0.05  # of the range: by which the mapped mean may miss; test pictures differ by 0.02
_SPREAD_LIMIT = 0.12  # by which the mapped spread may miss
_SCALE_LIMIT = 1.25  # factor between the ranges that is plainly another scale
_LEAST_BATCHES = 3  # of training, in which extremes that are all alike are the format's
_EDGE_LIMIT = 0.05  # of the range: by which extremes of training batches may differ


@dataclass(frozen=True, eq=False)
class _Range:
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    std: FloatArray


def other_scale(trace: Trace) -> float | None:
    """The factor by which evaluation's scale differs from training's, 1.0 or more; None where nothing shows such a difference."""
    trained, evaluated = _range(trace, "training", _LEAST_BATCHES), _range(trace, "evaluation", 1)
    if trained is None or evaluated is None or len(trained.mean) != len(evaluated.mean):
        return None
    factor = (evaluated.high - evaluated.low) / (trained.high - trained.low)
    moved = np.abs(evaluated.low - trained.low) / (trained.high - trained.low)
    if not ((np.abs(np.log(factor)) > np.log(_SCALE_LIMIT)) | (moved > _SCALE_LIMIT - 1)).all():
        return None
    mean = evaluated.low + factor * (trained.mean - trained.low)
    off = np.abs(mean - evaluated.mean) / (evaluated.high - evaluated.low)
    spread = np.abs(np.log(evaluated.std / (factor * trained.std)))
    if (off > _MEAN_LIMIT).any() or (spread > _SPREAD_LIMIT).any():
        return None
    return float(np.exp(np.abs(np.log(np.median(factor)))))


def _range(trace: Trace, phase: str, least: int) -> _Range | None:
    """Extremes, mean and spread of each channel; None unless batches of pictures agree on their extremes."""
    batches = [batch for batch in prints(trace, phase) if batch.feature_axis == "channel" and batch.features]
    model = batches[0].model if batches else ""
    width = len(batches[0].features) if batches else 0
    rows = np.array(
        [batch.features for batch in batches if batch.model == model and len(batch.features) == width]
    )
    if len(rows) < least or not np.isfinite(rows).all():
        return None
    means, stds, lows, highs = (rows[:, :, column] for column in range(4))
    low, high = lows.min(axis=0), highs.max(axis=0)
    mean, std = means.mean(axis=0), np.sqrt((stds**2).mean(axis=0) + means.var(axis=0))
    if not (high > low).all() or not (std > 0).all():
        return None
    edge = np.median(np.maximum(lows - low, high - highs), axis=0) / (high - low)
    return _Range(low, high, mean, std) if (edge < _EDGE_LIMIT).all() else None
