"""Margin: how close the second class comes to the first."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Floats
from netmend.adequacy.measures.example import Example


def margin(probabilities: Floats) -> Floats:
    """1 - (p₁ - p₂) for each input: 1 on the border of two classes, 0 for certainty; infinite where the answer is not finite."""
    if probabilities.shape[1] < 2:
        return np.where(np.isfinite(probabilities[:, 0]), 0.0, np.inf)
    top = np.sort(probabilities, axis=1)[:, -2:]  # NaN is sorted to the end
    values = 1.0 - (top[:, 1] - top[:, 0])
    return np.where(np.isfinite(values), values, np.inf)


MEASURE = margin
EXAMPLES = (
    Example("certain, unsure", {"probabilities": [[1, 0, 0], [0.5, 0.2, 0.3]]}, [0, 0.8]),
    Example("on the border", {"probabilities": [[0.4, 0.2, 0.4]]}, [1.0]),
    Example("one class is always certain", {"probabilities": [[1.0]]}, [0]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)
