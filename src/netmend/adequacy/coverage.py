"""How much of the training data's range a test set reaches, beside as many training inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from netmend.adequacy.collected import Floats, Integers, Rows
from netmend.adequacy.measures.surprises import layer_spread, surprise_coverage
from netmend.adequacy.result import ALIKE, LESS, MORE, Coverage

# What training data of the same amount would reach: samples to compare a test set with, and surprise of inputs left out.

Surprise = Callable[[Floats, Integers, Floats, Integers], Floats]


def out_of_fold(
    surprise: Surprise, traces: Floats, classes: Integers, folds: int, random: np.random.Generator
) -> Floats:
    """How surprising each training input is to the others: a known input would not be surprising at all.

    Each part is compared with the rest, so about a tenth of the data is missing from what an input is compared with.
    """
    result = np.full(len(traces), np.nan)
    places = random.permutation(len(traces)) % folds
    for fold in range(folds):
        asked = places == fold
        if asked.any() and not asked.all():
            result[asked] = surprise(traces[~asked], classes[~asked], traces[asked], classes[asked])
    return result


def draws(total: int, size: int, count: int, random: np.random.Generator) -> list[Integers]:
    """Samples without repetition; the whole, once, if it is no larger."""
    if size >= total:
        return [np.arange(total, dtype=np.int64)]
    return [np.sort(random.choice(total, size, replace=False)).astype(np.int64) for _ in range(count)]


def common_size(train: int, test: int) -> int:
    """How many inputs a comparison takes from each side: at most half of the training data, so that samples differ."""
    return max(1, min(test, train // 2))


# Coverages of a test set, each beside what as many training inputs reach.

SAMPLES = 20  # of training inputs
CLEAR = 0.1  # a difference that matters
SURE = 2.0  # deviations that a difference must have; they are rather wide: benchmarks/adequacy_study.py counts false alarms
BUCKETS = 20  # of each class; SADL takes 1000 for 10,000 inputs of all classes together
EDGES = (1.0, 99.0)  # percentiles of the training inputs between which buckets lie

_FEW = "two inputs on each side are needed at least"
_STILL = "the model does the same with all training inputs"
Edges = Mapping[int, tuple[float, float]]


def spread_coverage(
    train: Mapping[str, Rows], test: Mapping[str, Rows], random: np.random.Generator
) -> Coverage:
    """NLC. Layers count alike in the comparison: in the published sum the layer with the largest numbers decides alone."""
    names = [name for name in train if name in test]
    if not names:
        return Coverage("NLC", reason="no layer gives one row of units for each input")

    def of(layers: Mapping[str, Rows], chosen: Integers) -> list[float]:
        return [layer_spread(layers[name][chosen].astype(np.float64)) for name in names]

    before, after = len(train[names[0]]), len(test[names[0]])
    size = common_size(before, after)
    known = [of(train, chosen) for chosen in draws(before, size, SAMPLES, random)]
    asked = [of(test, chosen) for chosen in draws(after, size, SAMPLES, random)]
    value, everything = sum(of(test, np.arange(after))), sum(of(train, np.arange(before)))
    found = Coverage("NLC", value, everything, size)
    return compared(found, np.array(known), np.array(asked), before, tuple(names))


def surprise_range(
    name: str,
    before: Floats,
    before_classes: Integers,
    after: Floats,
    after_classes: Integers,
    random: np.random.Generator,
) -> Coverage:
    """Surprise coverage, the mean over the classes of the training data.

    Training inputs must not be measured by buckets that they have made themselves: for each sample the others make them.
    """
    edges = edges_of(before, before_classes)
    size = common_size(len(before), len(after))
    value = _mean(surprise_cells(after, after_classes, edges))
    everything = _mean(surprise_cells(before, before_classes, edges))
    known, asked = [], []
    parts = draws(len(after), size, SAMPLES, random)
    for number, chosen in enumerate(draws(len(before), size, SAMPLES, random)):
        others = np.ones(len(before), dtype=np.bool_)
        others[chosen] = False
        made = edges_of(before[others], before_classes[others])
        part = parts[number % len(parts)]
        known.append([_mean(surprise_cells(before[chosen], before_classes[chosen], made))])
        asked.append([_mean(surprise_cells(after[part], after_classes[part], made))])
    return compared(Coverage(name, value, everything, size), np.array(known), np.array(asked), len(before))


def surprise_cells(values: Floats, classes: Integers, edges: Edges) -> dict[int, float]:
    """Surprise coverage inside each class of the training data; a class without inputs covers nothing."""
    return {
        name: surprise_coverage(values[classes == name], lower, upper, BUCKETS)
        for name, (lower, upper) in edges.items()
    }


def edges_of(values: Floats, classes: Integers) -> dict[int, tuple[float, float]]:
    """Between which values the buckets of each class lie; classes without two finite values have none."""
    edges = {}
    for name in np.unique(classes[classes >= 0]):
        own = values[(classes == name) & np.isfinite(values)]
        if len(own) > 1:
            lower, upper = np.percentile(own, EDGES)
            edges[int(name)] = (float(lower), float(upper))
    return edges


def compared(
    found: Coverage, known: Floats, asked: Floats, train: int, parts: tuple[str, ...] = ()
) -> Coverage:
    """Samples of both sides (rows) and their parts (columns), as ratios to the mean of the training samples."""
    mean = known.mean(axis=0)
    moving = mean > 0
    if found.size < 2 or not moving.any():
        return Coverage(
            found.name, found.value, found.everything, found.size, reason=_FEW if found.size < 2 else _STILL
        )
    samples = (known[:, moving] / mean[moving]).mean(axis=1)
    ratios = asked.mean(axis=0)[moving] / mean[moving]
    relative = float(ratios.mean())
    # Samples of one set share inputs and differ less than new data would, and their mean has an error of its own.
    drawn = found.size / train
    deviation = float(samples.std(ddof=1) * math.sqrt((1 + drawn) / (1 - drawn)))
    told = [part for part, moves in zip(parts, moving, strict=True) if moves] if parts else []
    return Coverage(
        found.name,
        found.value,
        found.everything,
        found.size,
        relative,
        deviation,
        tuple(float(sample) for sample in samples),
        tuple((part, float(ratio)) for part, ratio in zip(told, ratios, strict=False)),
        standing(relative, deviation),
    )


def standing(relative: float, deviation: float) -> str:
    """Clearly different, and more than chance explains."""
    limit = max(CLEAR, SURE * deviation)
    if relative < 1 - limit:
        return LESS
    return MORE if relative > 1 + limit else ALIKE


def _mean(cells: dict[int, float]) -> float:
    return float(np.mean(list(cells.values()))) if cells else 0.0
