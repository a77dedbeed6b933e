"""DeepGini: how unsure the model is, as the chance that two draws from its answer differ."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Floats
from netmend.adequacy.measures.example import Example


def deep_gini(probabilities: Floats) -> Floats:
    """1 - Σ p² for each input; 0 for certainty, (k - 1) / k for k equal classes; infinite where the answer is not finite.

    Inputs with the largest values are worth a label first (Feng et al., ISSTA 2020).
    """
    values = 1.0 - (probabilities**2).sum(axis=1)
    return np.where(np.isfinite(values), values, np.inf)


MEASURE = deep_gini
EXAMPLES = (
    Example(
        "certain, unsure, undecided", {"probabilities": [[1, 0], [0.9, 0.1], [0.5, 0.5]]}, [0, 0.18, 0.5]
    ),
    Example("four equal classes", {"probabilities": [[0.25] * 4]}, [0.75]),
    Example("one class is always certain", {"probabilities": [[1.0], [1.0]]}, [0, 0]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)
