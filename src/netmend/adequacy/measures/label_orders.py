"""Orders in which inputs are worth a label: by the doubt of an answer, by spread, and how soon each finds the mistakes."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.collected import Flags, Floats, Integers, finite_rows, nearest

# Margin: how close the second class comes to the first.


def margin(probabilities: Floats) -> Floats:
    """1 - (p₁ - p₂) for each input: 1 on the border of two classes, 0 for certainty; infinite where the answer is not finite."""
    if probabilities.shape[1] < 2:
        return np.where(np.isfinite(probabilities[:, 0]), 0.0, np.inf)
    top = np.sort(probabilities, axis=1)[:, -2:]  # NaN is sorted to the end
    values = 1.0 - (top[:, 1] - top[:, 0])
    return np.where(np.isfinite(values), values, np.inf)


# Entropy: how unsure the model is, in nats.


def entropy(probabilities: Floats) -> Floats:
    """-Σ p log p for each input; infinite where the answer is not finite."""
    safe = np.where(probabilities > 0, probabilities, 1.0)  # p log p is 0 at 0
    values = -(np.where(np.isnan(probabilities), np.nan, safe) * np.log(safe)).sum(axis=1)
    return np.where(np.isfinite(values), values, np.inf)


# DeepGini: how unsure the model is, as the chance that two draws from its answer differ.


def deep_gini(probabilities: Floats) -> Floats:
    """1 - Σ p² for each input; 0 for certainty, (k - 1) / k for k equal classes; infinite where the answer is not finite.

    Inputs with the largest values are worth a label first (Feng et al., ISSTA 2020).
    """
    values = 1.0 - (probabilities**2).sum(axis=1)
    return np.where(np.isfinite(values), values, np.inf)


# CoreSet: inputs that stand for the others, by greedy k-centre (Sener and Savarese, ICLR 2018).

MOST_PRODUCTS = 6_000  # inputs whose products with each other are kept: 288 MB


def core_set(traces: Floats, known: Floats, count: int) -> Integers:
    """The first `count` inputs in order: each is the farthest from what is known and from those taken before.

    Without known inputs the first is the one nearest to the mean. Inputs that are not finite have no distance and come last.
    """
    usable = finite_rows(traces)
    points = np.where(usable[:, None], traces, 0.0)
    known = known[finite_rows(known)] if len(known) else known
    count = min(count, len(traces))
    taken: list[int] = []
    if not usable.any():
        return np.arange(count, dtype=np.int64)
    if len(known):
        away = nearest(points, known)[1]
    else:
        middle = points[usable].mean(axis=0)
        start = ((points - middle) ** 2).sum(axis=1)
        taken.append(int(np.argmin(np.where(usable, start, np.inf))))
        away = np.sqrt(((points - points[taken[0]]) ** 2).sum(axis=1))
    away = np.where(usable, away**2, -1.0)  # squares from here on: they order alike
    points = points - points[usable].mean(axis=0)  # near the origin the squares lose fewer digits
    sizes = (points**2).sum(axis=1)
    # All products at once where most of them are needed: far faster than one input after the other.
    products = points @ points.T if count * 4 > len(points) and len(points) <= MOST_PRODUCTS else None
    away[taken] = -2.0
    while len(taken) < count:
        best = int(np.argmax(away))
        taken.append(best)
        if usable[best]:
            common = points @ points[best] if products is None else products[best]
            reached = np.maximum(sizes + sizes[best] - 2.0 * common, 0.0)
            away = np.where(away < 0, away, np.minimum(away, reached))
        away[best] = -2.0
    return np.array(taken[:count], dtype=np.int64)


# MCP: the inputs nearest to every border between two classes, border by border (Shen et al., ASE 2020).


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


# APFD: how early an order of inputs finds the mistakes, where labels are known.


def fault_order(order: Integers, wrong: Flags) -> float:
    """Average percentage of faults detected: near 1 when all mistakes come first, 0.5 for a random order; NaN without any mistake."""
    count, faults = len(order), int(np.count_nonzero(wrong))
    if not faults:
        return float("nan")
    places = np.flatnonzero(np.asarray(wrong, dtype=bool)[order]) + 1
    return float(1.0 - places.sum() / (count * faults) + 1.0 / (2 * count))
