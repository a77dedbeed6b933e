"""LSA: how unlikely an input is among known ones of its class (Kim et al., ICSE 2019)."""

from __future__ import annotations

import math

import numpy as np

from netmend.adequacy.arrays import Floats, Integers, chunks, constant
from netmend.adequacy.measures.by_class import by_class
from netmend.adequacy.measures.example import Example

MOST_DIRECTIONS = 10  # a density of a few hundred inputs says nothing about more
LEAST_VARIANCE = (
    1e-5  # of the largest: below it a direction is noise (SADL leaves units out by an absolute 1e-5)
)


def likelihood_surprise(known: Floats, known_classes: Integers, traces: Floats, classes: Integers) -> Floats:
    """-log density: Gaussian kernels on the known inputs of the predicted class, with Scott's bandwidth.

    The density is taken along the directions in which the class varies most. Infinite for a class that is not known; NaN where
    the class does not vary, because it has no density.
    """
    surprise = np.full(len(traces), np.inf)
    for inside, own, _ in by_class(known, known_classes, traces, classes):
        surprise[inside] = np.nan if constant(own) else _surprise(own, traces[inside])
    return surprise


def _surprise(own: Floats, traces: Floats) -> Floats:
    count = len(own)
    middle = own.mean(axis=0)
    away = own - middle
    variances, directions = np.linalg.eigh(away.T @ away / (count - 1))
    variances, directions = variances[::-1][:MOST_DIRECTIONS], directions[:, ::-1][:, :MOST_DIRECTIONS]
    kept = variances > LEAST_VARIANCE * variances[0]
    deviations = np.sqrt(variances[kept])
    turn = directions[:, kept] / deviations  # one deviation is 1 along each direction
    centres, points = away @ turn, (traces - middle) @ turn
    width = count ** (-1.0 / (centres.shape[1] + 4))
    scale = np.log(deviations).sum() + centres.shape[1] * math.log(width * math.sqrt(2 * math.pi))
    result = np.empty(len(points))
    for part in chunks(len(points), count):
        square = (points[part] ** 2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
        heights = -np.maximum(square - 2.0 * points[part] @ centres.T, 0.0) / (2 * width**2)
        top = heights.max(axis=1)
        density = top + np.log(np.exp(heights - top[:, None]).mean(axis=1))
        result[part] = scale - density
    return result


def _two_kernels(away: tuple[float, float]) -> float:
    """The surprise of a point that far from two known ones at -1 and 1, written out."""
    deviation = math.sqrt(2.0)
    width = deviation * 2 ** (-1 / 5)
    kernels = [math.exp(-((a / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi)) for a in away]
    return -math.log(sum(kernels) / 2)


MEASURE = likelihood_surprise
_KNOWN = {"known": [[-1.0], [1.0]], "known_classes": [0, 0]}
EXAMPLES = (
    Example("between two", {**_KNOWN, "traces": [[0.0]], "classes": [0]}, [_two_kernels((1.0, 1.0))]),
    Example("beyond them", {**_KNOWN, "traces": [[4.0]], "classes": [0]}, [_two_kernels((5.0, 3.0))]),
    Example(
        "a unit that never moves does not count",
        {"known": [[-1.0, 7.0], [1.0, 7.0]], "known_classes": [0, 0], "traces": [[0.0, 7.0]], "classes": [0]},
        [_two_kernels((1.0, 1.0))],
    ),
    Example("a class that is not known", {**_KNOWN, "traces": [[0.0]], "classes": [3]}, [float("inf")]),
    Example("not finite", {**_KNOWN, "traces": [[float("nan")]], "classes": [0]}, [float("inf")]),
    Example(
        "a class that does not vary",
        {"known": [[2.0], [2.0]], "known_classes": [0, 0], "traces": [[2.0]], "classes": [0]},
        [float("nan")],
    ),
    Example(
        "a class of one input",
        {"known": [[2.0]], "known_classes": [0], "traces": [[2.0]], "classes": [0]},
        [float("nan")],
    ),
)
