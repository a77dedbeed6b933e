"""CoreSet: inputs that stand for the others, by greedy k-centre (Sener and Savarese, ICLR 2018)."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Floats, Integers, finite_rows, nearest
from netmend.adequacy.measures.example import Example

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


MEASURE = core_set
EXAMPLES = (
    Example(
        "farthest from what is known first",
        {"traces": [[1.0], [9.0], [8.5], [4.0]], "known": [[0.0]], "count": 3},
        [1, 3, 0],
    ),
    Example(
        "nothing known: from the middle outwards",
        {"traces": [[0.0], [5.0], [10.0]], "known": np.empty((0, 1)), "count": 3},
        [1, 0, 2],
    ),
    Example(
        "all alike: as they come", {"traces": [[2.0], [2.0], [2.0]], "known": [[2.0]], "count": 2}, [0, 1]
    ),
    Example(
        "what is not finite comes last",
        {"traces": [[float("nan")], [1.0], [2.0]], "known": [[0.0]], "count": 3},
        [2, 1, 0],
    ),
)
