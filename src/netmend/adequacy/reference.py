"""What training data of the same amount would reach: samples to compare a test set with, and surprise of inputs left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netmend.adequacy.arrays import Floats, Integers

Surprise = Callable[[Floats, Integers, Floats, Integers], Floats]


def out_of_fold(
    surprise: Surprise, traces: Floats, classes: Integers, folds: int, random: np.random.Generator
) -> Floats:
    """How surprising each training input is to the others: a known input would not be surprising at all.

    Each part is compared with the rest, so about a tenth of the data is missing from what an input is compared with.
    """
    result = np.full(len(traces), np.nan)
    places = random.permutation(len(traces)) % folds
    for fold in range(folds):
        asked = places == fold
        if asked.any() and not asked.all():
            result[asked] = surprise(traces[~asked], classes[~asked], traces[asked], classes[asked])
    return result


def draws(total: int, size: int, count: int, random: np.random.Generator) -> list[Integers]:
    """Samples without repetition; the whole, once, if it is no larger."""
    if size >= total:
        return [np.arange(total, dtype=np.int64)]
    return [np.sort(random.choice(total, size, replace=False)).astype(np.int64) for _ in range(count)]


def common_size(train: int, test: int) -> int:
    """How many inputs a comparison takes from each side: at most half of the training data, so that samples differ."""
    return max(1, min(test, train // 2))
