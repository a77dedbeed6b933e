"""Whether evaluation holds the training pictures' values on another scale: multiplied and moved, but otherwise alike.

Pictures reach the lowest and the highest value that their format has. What maps the training range to that of evaluation maps mean and spread
too if the two were only normalised differently; noise, brightness or other pictures change one without the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.diagnose.measures.batches import prints
from netmend.vocabulary import BatchPrint, Trace
from netmend.vocabulary.table import FloatArray

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
    batches = [batch for batch in prints(trace, phase) if _pictures(batch)]
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


def _pictures(batch: BatchPrint) -> bool:
    return batch.feature_axis == "channel" and bool(batch.features)
