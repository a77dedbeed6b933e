"""Surprise: how far an input lies from what the training data made of the layers, and how much of that range a set covers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from netmend.adequacy.collected import Flags, Floats, Integers, chunks, constant, finite_rows, nearest

# What the surprise measures share: inputs are compared with known inputs of the class that the model takes them for.


def by_class(
    known: Floats, known_classes: Integers, traces: Floats, classes: Integers
) -> Iterator[tuple[Flags, Floats, Floats]]:
    """For each class: which inputs are taken for it, known rows of the class, known rows of others.

    Rows that are not finite, and classes without known rows, do not come: such inputs are as surprising as can be.
    """
    usable = finite_rows(known)
    known, known_classes = known[usable], known_classes[usable]
    asked = finite_rows(traces)
    for name in np.unique(classes[asked]):
        inside = asked & (classes == name)
        own = known_classes == name
        if own.any():
            yield inside, known[own], known[~own]


# DSA: how far an input lies from known ones of its class, compared with how near another class is (Kim et al., ICSE 2019).


def distance_surprise(known: Floats, known_classes: Integers, traces: Floats, classes: Integers) -> Floats:
    """d_a / d_b: d_a to the nearest known input a of the same predicted class, d_b from a to the nearest one of any other class.

    0 on top of a known input; infinite for a class that is not known, and where a lies on top of another class; NaN where
    there is only one class.
    """
    surprise = np.full(len(traces), np.inf)
    for inside, own, others in by_class(known, known_classes, traces, classes):
        if not len(others):
            surprise[inside] = np.nan
            continue
        at, away = nearest(traces[inside], own)
        met, where = np.unique(at, return_inverse=True)
        across = nearest(own[met], others)[1][where]
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise[inside] = np.where(away == 0, 0.0, away / across)
    return surprise


# MDSA: how far an input lies from the middle of its class, in deviations of the class (Kim et al., FSE 2020).

# A class of few inputs varies in few directions; the others must not count as infinitely far.
LEAST_SHRINKAGE = 0.01


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


# LSA: how unlikely an input is among known ones of its class (Kim et al., ICSE 2019).

MOST_DIRECTIONS = 10  # a density of a few hundred inputs says nothing about more
# Of the largest: below it a direction is noise (SADL leaves units out by an absolute 1e-5).
LEAST_VARIANCE = 1e-5


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


# Surprise coverage: how much of the range of surprise a set of inputs reaches (Kim et al., ICSE 2019).


def buckets_hit(values: Floats, lower: float, upper: float, buckets: int) -> Flags:
    """Which of equally wide buckets of [lower, upper] hold a value; values outside hit none."""
    hit = np.zeros(buckets, dtype=np.bool_)
    inside = values[(values >= lower) & (values <= upper)]  # false for NaN
    if not len(inside):
        return hit
    if upper <= lower:  # no range: one place, and something is there
        hit[:] = True
        return hit
    places = ((inside - lower) / (upper - lower) * buckets).astype(np.int64)
    hit[np.minimum(places, buckets - 1)] = True
    return hit


def surprise_coverage(values: Floats, lower: float, upper: float, buckets: int) -> float:
    """The share of the buckets that are hit."""
    return float(buckets_hit(values, lower, upper, buckets).mean())


# NLC: how widely a layer's units vary together over a set of inputs (Yuan et al., ICSE 2023).


def layer_spread(rows: Floats) -> float:
    """What one layer adds to NLC; NLC is the sum over layers.

    The published procedure feeds batches one by one and keeps those that make the value grow, so it depends on their order;
    here all inputs count and the order does not matter. It is the mean absolute entry of the covariance matrix.
    """
    rows = rows[finite_rows(rows)]
    if len(rows) < 2:
        return 0.0
    away = rows - rows.mean(axis=0)
    return float(np.abs(away.T @ away).mean() / len(rows))
