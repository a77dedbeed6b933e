"""MCP: the inputs nearest to every border between two classes, border by border (Shen et al., ASE 2020)."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Floats, Integers, finite_rows
from netmend.adequacy.measures.example import Example


def boundary_rounds(probabilities: Floats) -> Integers:
    """All inputs in the order of their worth.

    Inputs that share their first and second class lie near one border, the nearer the larger p₂ / p₁. Each round takes the
    nearest input that is left at every border, so that no single confusion fills the list. Inputs without a finite answer come first.
    """
    count, classes = probabilities.shape
    broken = ~finite_rows(probabilities)
    if classes < 2:
        return np.argsort(~broken, kind="stable").astype(np.int64)
    order = np.argsort(-np.where(broken[:, None], 0.0, probabilities), axis=1, kind="stable")
    first, second = order[:, 0], order[:, 1]
    rows = np.arange(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = probabilities[rows, second] / probabilities[rows, first]
    near = np.where(broken, np.inf, np.nan_to_num(near))
    border = np.where(broken, -1, first * classes + second)
    rounds = np.zeros(count, dtype=np.int64)
    for name in np.unique(border[~broken]):
        inside = np.flatnonzero(border == name)
        rounds[inside[np.argsort(-near[inside], kind="stable")]] = np.arange(len(inside)) + 1
    return np.lexsort((-near, rounds)).astype(np.int64)


MEASURE = boundary_rounds
EXAMPLES = (
    Example(
        "one of each border before the second of any",
        {"probabilities": [[0.5, 0.4, 0.1], [0.5, 0.45, 0.05], [0.1, 0.6, 0.3], [0.9, 0.07, 0.03]]},
        [1, 2, 0, 3],
    ),
    Example("borders have two sides", {"probabilities": [[0.6, 0.4], [0.45, 0.55], [0.52, 0.48]]}, [2, 1, 0]),
    Example("no answer comes first", {"probabilities": [[0.6, 0.4], [float("nan"), 1.0]]}, [1, 0]),
    Example("one class has no border", {"probabilities": [[1.0], [1.0]]}, [0, 1]),
)
