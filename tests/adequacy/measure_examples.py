"""What each measure of adequacy is given, and what it must answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netmend.adequacy.measures.label_orders import (
    boundary_rounds,
    core_set,
    deep_gini,
    entropy,
    fault_order,
    margin,
)
from netmend.adequacy.measures.surprises import (
    LEAST_SHRINKAGE,
    distance_surprise,
    layer_spread,
    likelihood_surprise,
    mahalanobis_surprise,
    surprise_coverage,
)


@dataclass(frozen=True)
class Example:
    title: str
    given: Mapping[str, Any]  # arguments; lists become arrays
    expected: Any


MARGIN = (
    Example("certain, unsure", {"probabilities": [[1, 0, 0], [0.5, 0.2, 0.3]]}, [0, 0.8]),
    Example("on the border", {"probabilities": [[0.4, 0.2, 0.4]]}, [1.0]),
    Example("one class is always certain", {"probabilities": [[1.0]]}, [0]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)

ENTROPY = (
    Example("certain, undecided", {"probabilities": [[1, 0], [0.5, 0.5]]}, [0, math.log(2)]),
    Example("four equal classes", {"probabilities": [[0.25] * 4]}, [math.log(4)]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)

DEEP_GINI = (
    Example(
        "certain, unsure, undecided", {"probabilities": [[1, 0], [0.9, 0.1], [0.5, 0.5]]}, [0, 0.18, 0.5]
    ),
    Example("four equal classes", {"probabilities": [[0.25] * 4]}, [0.75]),
    Example("one class is always certain", {"probabilities": [[1.0], [1.0]]}, [0, 0]),
    Example("no answer comes first", {"probabilities": [[float("nan"), 0.5]]}, [float("inf")]),
)

CORE_SET = (
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

BOUNDARY_ROUNDS = (
    Example(
        "one of each border before the second of any",
        {"probabilities": [[0.5, 0.4, 0.1], [0.5, 0.45, 0.05], [0.1, 0.6, 0.3], [0.9, 0.07, 0.03]]},
        [1, 2, 0, 3],
    ),
    Example("borders have two sides", {"probabilities": [[0.6, 0.4], [0.45, 0.55], [0.52, 0.48]]}, [2, 1, 0]),
    Example("no answer comes first", {"probabilities": [[0.6, 0.4], [float("nan"), 1.0]]}, [1, 0]),
    Example("one class has no border", {"probabilities": [[1.0], [1.0]]}, [0, 1]),
)

FAULT_ORDER = (
    Example("both mistakes first", {"order": [2, 0, 1, 3], "wrong": [True, False, True, False]}, 0.75),
    Example("both mistakes last", {"order": [1, 3, 0, 2], "wrong": [True, False, True, False]}, 0.25),
    Example("all wrong: the order does not matter", {"order": [0, 1], "wrong": [True, True]}, 0.5),
    Example("nothing wrong", {"order": [0, 1], "wrong": [False, False]}, float("nan")),
)

_KNOWN = {"known": [[0.0], [1.0], [5.0], [6.0]], "known_classes": [0, 0, 1, 1]}

DISTANCE = (
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

_KNOWN_CLASSES = {"known": [[-2.0], [2.0]], "known_classes": [0, 0]}

MAHALANOBIS = (
    Example("in the middle", {**_KNOWN_CLASSES, "traces": [[0.0]], "classes": [0]}, [0.0]),
    Example("three deviations away", {**_KNOWN_CLASSES, "traces": [[6.0]], "classes": [0]}, [3.0]),
    Example(
        "a direction that never moved is far but not infinitely",
        {"known": [[-1.0, 0.0], [1.0, 0.0]], "known_classes": [0, 0], "traces": [[0.0, 1.0]], "classes": [0]},
        [1.0 / math.sqrt(LEAST_SHRINKAGE * 0.5)],
    ),
    Example(
        "a class that is not known", {**_KNOWN_CLASSES, "traces": [[0.0]], "classes": [3]}, [float("inf")]
    ),
    Example("not finite", {**_KNOWN_CLASSES, "traces": [[float("inf")]], "classes": [0]}, [float("inf")]),
    Example(
        "a class that does not vary",
        {"known": [[2.0], [2.0]], "known_classes": [0, 0], "traces": [[2.0], [2.5]], "classes": [0, 0]},
        [0.0, float("inf")],
    ),
)


def _two_kernels(away: tuple[float, float]) -> float:
    """The surprise of a point that far from two known ones at -1 and 1, written out."""
    deviation = math.sqrt(2.0)
    width = deviation * 2 ** (-1 / 5)
    kernels = [math.exp(-((a / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi)) for a in away]
    return -math.log(sum(kernels) / 2)


_KNOWN_ROWS = {"known": [[-1.0], [1.0]], "known_classes": [0, 0]}

LIKELIHOOD = (
    Example("between two", {**_KNOWN_ROWS, "traces": [[0.0]], "classes": [0]}, [_two_kernels((1.0, 1.0))]),
    Example("beyond them", {**_KNOWN_ROWS, "traces": [[4.0]], "classes": [0]}, [_two_kernels((5.0, 3.0))]),
    Example(
        "a unit that never moves does not count",
        {"known": [[-1.0, 7.0], [1.0, 7.0]], "known_classes": [0, 0], "traces": [[0.0, 7.0]], "classes": [0]},
        [_two_kernels((1.0, 1.0))],
    ),
    Example("a class that is not known", {**_KNOWN_ROWS, "traces": [[0.0]], "classes": [3]}, [float("inf")]),
    Example("not finite", {**_KNOWN_ROWS, "traces": [[float("nan")]], "classes": [0]}, [float("inf")]),
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

COVERAGE = (
    Example("two of four", {"values": [0.1, 0.2, 0.9], "lower": 0.0, "upper": 1.0, "buckets": 4}, 0.5),
    Example("both ends belong to it", {"values": [0.0, 1.0], "lower": 0.0, "upper": 1.0, "buckets": 2}, 1.0),
    Example(
        "outside, infinite, undefined",
        {"values": [-1.0, 2.0, float("inf"), float("nan")], "lower": 0.0, "upper": 1.0, "buckets": 4},
        0.0,
    ),
    Example("no range", {"values": [3.0], "lower": 3.0, "upper": 3.0, "buckets": 4}, 1.0),
    Example("no input", {"values": np.empty(0), "lower": 0.0, "upper": 1.0, "buckets": 4}, 0.0),
)

SPREAD = (
    Example("two units that move together", {"rows": [[0, 0], [2, 2]]}, 1.0),
    Example("only one of two units moves", {"rows": [[0, 5], [2, 5]]}, 0.25),
    Example("against each other counts as much", {"rows": [[0, 2], [2, 0]]}, 1.0),
    Example("constant activations", {"rows": [[3, 3], [3, 3], [3, 3]]}, 0.0),
    Example("one input has no spread", {"rows": [[1, 2]]}, 0.0),
    Example("no input", {"rows": np.empty((0, 2))}, 0.0),
    Example("what is not finite is left out", {"rows": [[0, 0], [float("nan"), 9], [2, 2]]}, 1.0),
)

MEASURES = {
    margin: MARGIN,
    entropy: ENTROPY,
    deep_gini: DEEP_GINI,
    core_set: CORE_SET,
    boundary_rounds: BOUNDARY_ROUNDS,
    fault_order: FAULT_ORDER,
    distance_surprise: DISTANCE,
    mahalanobis_surprise: MAHALANOBIS,
    likelihood_surprise: LIKELIHOOD,
    surprise_coverage: COVERAGE,
    layer_spread: SPREAD,
}
