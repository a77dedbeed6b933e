"""Whole-numbered targets: how often each value occurs, as far as batches were looked at."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from netmend.vocabulary import Trace


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
