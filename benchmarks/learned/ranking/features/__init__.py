"""A run as a row of numbers: named, scale-free, defined for every run (what cannot be said is NaN).

`signs` are what detectors say, `suspicion` what rules make of it; the other groups are measured from the trace itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from netmend.vocabulary import Symptom, Trace
from netmend.vocabulary.table import FloatArray
from ranking.features import (
    answer,
    curve,
    held_out,
    make_up,
    moving,
    network,
    optimiser,
    signs,
    supply,
    suspicion,
)
from ranking.features.numbers import rounded

_MEASURES = (curve, held_out, moving, optimiser, network, make_up, answer, supply)


@lru_cache(maxsize=1)
def words() -> dict[str, str]:
    """Every feature, in order, and what it says."""
    found: dict[str, str] = {}
    for measure in _MEASURES:
        found |= measure.WORDS
    return found | signs.words() | suspicion.WORDS


def features(
    trace: Trace, symptoms: Iterable[Symptom], accusations: Mapping[str, float]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """What can be said of a run, and which groups failed on it; `accusations` are the rules' log-odds by cause."""
    found: dict[str, float] = {}
    failures: list[str] = []
    for measure in _MEASURES:
        try:
            found |= measure.of(trace)
        except Exception as problem:  # noqa: BLE001 - one group's mistake must not cost the others
            failures.append(f"features of {measure.__name__} ({type(problem).__name__}: {problem})")
    found |= signs.of(trace, symptoms) | suspicion.of(accusations)
    return {name: rounded(value) for name, value in found.items()}, tuple(failures)


def row(values: Mapping[str, float], names: Iterable[str]) -> FloatArray:
    """The features in the order of a model's own list; what is missing is NaN."""
    return np.array([values.get(name, np.nan) for name in names], dtype=np.float64)
