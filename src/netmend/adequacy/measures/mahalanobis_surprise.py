"""MDSA: how far an input lies from the middle of its class, in deviations of the class (Kim et al., FSE 2020)."""

from __future__ import annotations

import math

import numpy as np

from netmend.adequacy.arrays import Floats, Integers, constant
from netmend.adequacy.measures.by_class import by_class
from netmend.adequacy.measures.example import Example

LEAST_SHRINKAGE = (
    0.01  # a class of few inputs varies in few directions; the others must not count as infinitely far
)


def mahalanobis_surprise(known: Floats, known_classes: Integers, traces: Floats, classes: Integers) -> Floats:
    """Mahalanobis distance to the mean of the predicted class, with the covariance of the class drawn towards a ball (Ledoit and Wolf).

    A class that does not vary: 0 at its place, infinite elsewhere. Infinite for a class that is not known.
    """
    surprise = np.full(len(traces), np.inf)
    for inside, own, _ in by_class(known, known_classes, traces, classes):
        away = traces[inside] - own.mean(axis=0)
        if constant(own):
            same = np.abs(away).max(axis=1) <= 1e-9 * np.abs(own).max(initial=0.0)
            surprise[inside] = np.where(same, 0.0, np.inf)
        else:
            squares = (away * np.linalg.solve(shrunk_covariance(own), away.T).T).sum(axis=1)
            surprise[inside] = np.sqrt(np.maximum(squares, 0.0))
    return surprise


def shrunk_covariance(rows: Floats) -> Floats:
    """Between the covariance and a ball of the same size: the fewer inputs per unit, the nearer to the ball."""
    count, width = rows.shape
    away = rows - rows.mean(axis=0)
    covariance = away.T @ away / count
    ball = np.trace(covariance) / width * np.eye(width)
    distance = float(((covariance - ball) ** 2).sum())
    error = float(((away**2).sum(axis=1) ** 2).sum() / count - (covariance**2).sum()) / count
    share = 1.0 if distance == 0 else min(1.0, max(LEAST_SHRINKAGE, error / distance))
    return np.asarray((1.0 - share) * covariance + share * ball, dtype=np.float64)


MEASURE = mahalanobis_surprise
_KNOWN = {"known": [[-2.0], [2.0]], "known_classes": [0, 0]}
EXAMPLES = (
    Example("in the middle", {**_KNOWN, "traces": [[0.0]], "classes": [0]}, [0.0]),
    Example("three deviations away", {**_KNOWN, "traces": [[6.0]], "classes": [0]}, [3.0]),
    Example(
        "a direction that never moved is far but not infinitely",
        {"known": [[-1.0, 0.0], [1.0, 0.0]], "known_classes": [0, 0], "traces": [[0.0, 1.0]], "classes": [0]},
        [1.0 / math.sqrt(LEAST_SHRINKAGE * 0.5)],
    ),
    Example("a class that is not known", {**_KNOWN, "traces": [[0.0]], "classes": [3]}, [float("inf")]),
    Example("not finite", {**_KNOWN, "traces": [[float("inf")]], "classes": [0]}, [float("inf")]),
    Example(
        "a class that does not vary",
        {"known": [[2.0], [2.0]], "known_classes": [0, 0], "traces": [[2.0], [2.5]], "classes": [0, 0]},
        [0.0, float("inf")],
    ),
)
