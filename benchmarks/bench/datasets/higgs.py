"""The stand-in for the Higgs challenge: generated events, 31 unscaled columns, -999 for what was not measured.

The columns have the ranges of the original (masses and momenta in the hundreds, angles between -3 and 3, counts,
ratios); a third of them is missing together where an event has too few jets. The label depends on three masses and
on the number of jets, and is noisy: a network on unscaled inputs learns it slowly, as in the challenge.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import arrays

ROWS, COLUMNS, TEST = 10_000, 31, 3_000
MISSING = -999.0
_MASSES, _ANGLES, _JETS = range(12), range(12, 19), range(20, 30)
VERSION = 1  # of the generator: what an older one made is made again
ABOUT = (
    f"generated events in place of the Higgs challenge: {ROWS:,} rows, {COLUMNS} columns, 2 classes "
    f"(generator {VERSION})"
)


def prepare(file: Path) -> str:
    values, labels = generate(ROWS)
    kept = ROWS - TEST
    content: dict[str, NDArray[Any]] = {
        "x_train": values[:kept],
        "y_train": labels[:kept],
        "x_test": values[kept:],
        "y_test": labels[kept:],
    }
    arrays.save(file, content, ABOUT)
    return ABOUT


def generate(count: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(count, COLUMNS))
    values = np.empty((count, COLUMNS))
    for column in _MASSES:  # right-skewed, around 40 to 180
        values[:, column] = rng.uniform(40, 180) * np.exp(0.5 * hidden[:, column])
    for column in _ANGLES:
        values[:, column] = np.clip(1.4 * hidden[:, column], -3.14, 3.14)
    jets = rng.choice(4, size=count, p=[0.4, 0.31, 0.2, 0.09])
    values[:, 19] = jets
    for column in _JETS:
        values[:, column] = rng.uniform(30, 120) * np.exp(0.4 * hidden[:, column])
        values[jets < (1 if column < 23 else 2), column] = MISSING
    values[rng.random(count) < 0.15, 0] = MISSING  # the mass could not be estimated
    values[:, 30] = rng.gamma(2.0, 1.0, size=count)  # event weight
    score = 1.3 * hidden[:, 1] - hidden[:, 2] + 0.9 * hidden[:, 3] + 1.6 * (jets > 1) - 1.0
    labels = rng.random(count) < 1.0 / (1.0 + np.exp(-3.0 * score))
    values[labels, 30] *= 0.7  # in the challenge the weight depends on the label as well
    return values.astype(np.float32), labels.astype(np.int64)
