"""The shipped model: a forest, how its shares and the rules' certainty become a confidence, and when to speak. Numbers and text only."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from netmend.errors import UsageError
from ranking.combination import Combination
from ranking.forest import Forest

FILE = Path(__file__).with_name("model.npz")
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Model:
    forest: Forest
    combination: Combination
    least_confidence: (
        float  # from which a cause is told: keeps healthy runs within the budget of false alarms
    )
    most_healthy: (
        float  # share of healthy ones among runs alike, below which a run has failed, whatever the cause
    )
    made_from: dict[str, Any] = field(default_factory=dict)  # corpus, date, versions: for people


@lru_cache(maxsize=4)
def load(file: Path = FILE) -> Model:
    """The model in a file; UsageError says what is wrong with it otherwise."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about.get("format") != FORMAT:
                raise ValueError(f"its format is {about.get('format')!r}, this netmend reads {FORMAT}")
            return _model(arrays, about)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"the learned model {file} cannot be read: {problem}; "
            "make it again with `python benchmarks/learned/train.py`, or switch learned diagnosis off"
        ) from None


def _model(arrays: Any, about: dict[str, Any]) -> Model:
    feature = arrays["feature"].astype(np.int16)
    forest = Forest(
        tuple(str(name) for name in arrays["features"]),
        tuple(str(name) for name in arrays["classes"]),
        arrays["base"].astype(np.float64),
        np.concatenate([[0], np.cumsum(arrays["tree_sizes"].astype(np.int64))]),
        arrays["speaks_of"].astype(np.int64),
        feature,
        arrays["threshold"].astype(np.float64),
        np.arange(len(feature)) + arrays["right_offset"].astype(np.int64),
        np.unpackbits(arrays["missing_left"], count=len(feature)).astype(np.bool_),
        arrays["value"].astype(np.float64),
    )
    _check(forest)
    weighing = about["combination"]
    combination = Combination(float(weighing["constant"]), tuple(map(float, weighing["weights"])))
    limits = float(about["least_confidence"]), float(about["most_healthy"])
    return Model(forest, combination, *limits, about.get("made_from", {}))


def _check(forest: Forest) -> None:
    """A damaged file must not send a walk down a tree astray."""
    inner = forest.feature >= 0
    nodes = np.flatnonzero(inner)
    ends = np.repeat(forest.starts[1:], np.diff(forest.starts))
    good = (
        forest.starts[-1] == len(forest.feature) == len(forest.threshold) == len(forest.value)
        and len(forest.speaks_of) == forest.trees
        and len(forest.base) == len(forest.classes)
        and int(forest.feature.max(initial=-1)) < len(forest.features)
        and int(forest.speaks_of.max(initial=0)) < len(forest.classes)
        and bool((forest.right[inner] > nodes + 1).all())
        and bool((forest.right[inner] < ends[inner]).all())
    )
    if not good:
        raise ValueError("its trees do not fit together")


def save(model: Model, file: Path = FILE) -> None:
    """Write a model; what `load` reads is the same to the last bit."""
    forest = model.forest
    about = {
        "format": FORMAT,
        "combination": model.combination.as_json(),
        "least_confidence": model.least_confidence,
        "most_healthy": model.most_healthy,
        "made_from": model.made_from,
    }
    inner = forest.feature >= 0
    np.savez_compressed(
        file,
        about=np.array(json.dumps(about)),
        features=np.array(forest.features),
        classes=np.array(forest.classes),
        base=forest.base,
        tree_sizes=np.diff(forest.starts).astype(np.int32),
        speaks_of=forest.speaks_of.astype(np.int16),
        feature=forest.feature.astype(np.int16),
        threshold=np.where(inner, forest.threshold, 0.0),
        right_offset=np.where(inner, forest.right - np.arange(len(forest.right)), 0).astype(np.int32),
        missing_left=np.packbits(forest.missing_left),
        value=forest.value.astype(np.float32),
    )
