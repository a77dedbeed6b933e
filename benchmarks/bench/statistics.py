"""The most frequent answer, how often it comes, and intervals for means over programs and seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item", bound=Hashable)

_DRAWS = 2_000
_SEED = 22  # the same interval every time the same results are read


def most_frequent(items: Sequence[Item]) -> tuple[Item, float]:
    """The item that comes most often, the earlier one of two that come equally often, and its share."""
    if not items:
        raise ValueError("the most frequent of nothing is not defined")
    counts = Counter(items)
    item, count = max(counts.items(), key=lambda pair: (pair[1], -items.index(pair[0])))
    return item, count / len(items)


def interval(groups: Sequence[Sequence[float]], level: float = 0.95) -> tuple[float, float]:
    """Bootstrap interval for the mean of the groups' means.

    A group holds the values of one program over seeds. Programs are drawn first, then the seeds of each: both are samples. Of one
    program only the seeds are drawn.
    """
    kept = [np.asarray(group, dtype=float) for group in groups if len(group)]
    if not kept:
        return 0.0, 0.0
    random = np.random.default_rng(_SEED)
    # For every group the means of as many redrawn sets of seeds as there are draws.
    means = np.stack([random.choice(group, (_DRAWS, len(group))).mean(axis=1) for group in kept])
    if len(kept) == 1:
        drawn = means[0]
    else:
        programs = random.integers(0, len(kept), (_DRAWS, len(kept)))
        drawn = means[programs, np.arange(_DRAWS)[:, None]].mean(axis=1)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
