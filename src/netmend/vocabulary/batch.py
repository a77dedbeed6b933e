"""BatchPrint: what is remembered of one batch of data, without keeping the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class BatchPrint:
    """Fingerprint of a batch: enough to see leakage, missing shuffling, duplicates, constant features later.

    `hashes` holds one 64-bit number per sample, equal for equal inputs. `features` holds, per feature or channel
    (the first 1,024), mean, standard deviation, minimum and maximum; of tokens the most frequent one, its share, the share of
    samples that end in it, and the number of different tokens.
    """

    step: int
    phase: str  # "training" | "evaluation"
    size: int
    model: str = ""
    hashes: tuple[int, ...] = ()
    feature_axis: str = ""  # "feature" | "channel" | "token" | ""
    features: tuple[tuple[float, float, float, float], ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)  # histogram, for targets with few distinct values
    label_changes: int | None = None  # how often neighbouring samples of the batch differ in label
    target_mean: float | None = None
    target_std: float | None = None
