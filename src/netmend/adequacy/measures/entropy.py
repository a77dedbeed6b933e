"""Entropy: how unsure the model is, in nats."""

from __future__ import annotations

import math

import numpy as np

from netmend.adequacy.arrays import Floats
from netmend.adequacy.measures.example import Example


def entropy(probabilities: Floats) -> Floats:
    """-Σ p log p for each input; infinite where the answer is not finite."""
    safe = np.where(probabilities > 0, probabilities, 1.0)  # p log p is 0 at 0
    values = -(np.where(np.isnan(probabilities), np.nan, safe) * np.log(safe)).sum(axis=1)
    return np.where(np.isfinite(values), values, np.inf)


MEASURE = entropy
EXAMPLES = (
    Example("certain, undecided", {"probabilities": [[1, 0], [0.5, 0.5]]}, [0, math.log(2)]),
    Example("four equal classes", {"probabilities": [[0.25] * 4]}, [math.log(4)]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)
