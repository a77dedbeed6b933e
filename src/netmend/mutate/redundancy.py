"""Does a mutant tell anything that another does not? Killed by every input that kills the other one, it is redundant.

An input kills a mutant in a run when the original handles it and the mutant does not. Over the runs that is a probability, known only within
an interval. Mutant A is redundant given B when hardly any input kills B surely more often than A. Intervals of few runs are too wide to
contradict anything; therefore at least 10 runs are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.vocabulary.table import FloatArray

LEAST_RUNS = 10
_CONTRADICTING = 0.01  # of the inputs that kill B: as many may lie outside by chance


@dataclass(frozen=True)
class Redundancy:
    mutant: str
    given: str  # whatever kills this one kills the mutant too


def redundancies(
    original_right: npt.ArrayLike, mutants_right: Mapping[str, npt.ArrayLike], confidence: float = 0.95
) -> list[Redundancy]:
    """Arrays [runs, inputs]. Of two mutants that are killed alike only the later one is called redundant."""
    original = np.asarray(original_right, dtype=bool)
    if len(original) < LEAST_RUNS:
        raise UsageError(
            f"Redundancy needs at least {LEAST_RUNS} runs, got {len(original)}: fewer contradict nothing, and all mutants would look alike."
        )
    intervals = {}
    for name, right in mutants_right.items():
        kills = (original & ~np.asarray(right, dtype=bool)).sum(axis=0)
        intervals[name] = _interval(kills, len(original), confidence)
    found: list[Redundancy] = []
    gone: set[str] = set()
    for name in reversed(list(intervals)):
        for given in intervals:
            if given not in gone | {name} and _implied(intervals[name], intervals[given]):
                found.append(Redundancy(name, given))
                gone.add(name)
                break
    return found[::-1]


def _implied(mutant: tuple[FloatArray, FloatArray], given: tuple[FloatArray, FloatArray]) -> bool:
    killing = given[0] > 0  # inputs that surely kill the other one at times
    if not killing.any():
        return False
    return float((mutant[1] < given[0])[killing].mean()) <= _CONTRADICTING


def _interval(kills: npt.NDArray[np.int64], runs: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's, which never covers too little."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    rest = runs - kills
    low = np.where(kills > 0, betaincinv(np.maximum(kills, 1), rest + 1, tail), 0.0)
    high = np.where(rest > 0, betaincinv(kills + 1, np.maximum(rest, 1), 1 - tail), 1.0)
    return low, high
