"""DSA: how far an input lies from known ones of its class, compared with how near another class is (Kim et al., ICSE 2019)."""

from __future__ import annotations

import numpy as np

from netmend.adequacy.arrays import Floats, Integers, nearest
from netmend.adequacy.measures.by_class import by_class
from netmend.adequacy.measures.example import Example


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


MEASURE = distance_surprise
_KNOWN = {"known": [[0.0], [1.0], [5.0], [6.0]], "known_classes": [0, 0, 1, 1]}
EXAMPLES = (
    Example("on a known input", {**_KNOWN, "traces": [[1.0]], "classes": [0]}, [0.0]),
    Example("half way to the other class", {**_KNOWN, "traces": [[3.0]], "classes": [0]}, [0.5]),
    Example("inside the other class", {**_KNOWN, "traces": [[6.0]], "classes": [0]}, [1.25]),
    Example("a class that is not known", {**_KNOWN, "traces": [[1.0]], "classes": [7]}, [float("inf")]),
    Example("not finite", {**_KNOWN, "traces": [[float("nan")]], "classes": [0]}, [float("inf")]),
    Example(
        "only one class is known",
        {"known": [[0.0], [1.0]], "known_classes": [0, 0], "traces": [[3.0]], "classes": [0]},
        [float("nan")],
    ),
    Example(
        "classes on top of each other",
        {"known": [[2.0], [2.0]], "known_classes": [0, 1], "traces": [[2.0], [3.0]], "classes": [0, 0]},
        [0.0, float("inf")],
    ),
)
