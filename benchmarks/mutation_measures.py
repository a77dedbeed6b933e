"""Measures of mutation testing as other studies publish them, for comparison with ours; netmend itself computes none of them.

Class score: published for DeepMutation's mutated models. An input of class c that the original handles and the mutant does not kills class c of
the mutant; the score is the share of killed classes, over all mutants and classes. Mutants that are wrong nearly everywhere are left out first.

Redundancy: a mutant that is killed by every input that kills another one tells nothing more. An input kills a mutant in a run when the original
handles it and the mutant does not. Over the runs that is a probability, known only within an interval. Mutant A is redundant given B when hardly
any input kills B surely more often than A. Intervals of few runs are too wide to contradict anything; therefore at least 10 runs are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError
from netmend.mutate.agents.pair_verdicts import KillRate
from netmend.mutate.comparison import STABLE, paired_power
from netmend.mutate.scoring import TRIVIAL, Runs, pairs_of_runs, triviality
from netmend.vocabulary.table import FloatArray

_MOST_PAIRS = 10_000
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


def killed_classes(
    original_right: npt.ArrayLike, mutant_right: npt.ArrayLike, labels: npt.ArrayLike
) -> frozenset[int]:
    """Of one mutant: the classes of inputs which only the original handles."""
    original, mutant = np.asarray(original_right, dtype=bool), np.asarray(mutant_right, dtype=bool)
    classes = np.asarray(labels)
    if not original.shape == mutant.shape == classes.shape:
        raise UsageError(
            f"Original, mutant and labels must speak of the same inputs, got {original.shape}, {mutant.shape}, {classes.shape}."
        )
    return frozenset(int(label) for label in np.unique(classes[original & ~mutant]))


def class_score(
    original_right: npt.ArrayLike,
    mutants_right: Sequence[npt.ArrayLike],
    labels: npt.ArrayLike,
    classes: int,
    most_trivial: float = TRIVIAL,
) -> float | None:
    """`classes`: of the task, also those that the test set does not have. None: every mutant was left out."""
    if classes < 1:
        raise UsageError(f"A task has at least one class, got {classes}.")
    original = np.asarray(original_right, dtype=bool)
    kept = [
        np.asarray(mutant, dtype=bool)
        for mutant in mutants_right
        if triviality([original], [mutant]) < most_trivial
    ]
    if not kept:
        return None
    return sum(len(killed_classes(original, mutant, labels)) for mutant in kept) / (len(kept) * classes)


def triviality_among_all(original_right: Runs, mutant_right: Runs) -> float:
    """The share of inputs that the original handles and the mutant does not, as published for DeepCrime's replication; never above the original's accuracy."""
    shares = [
        float((original & ~mutant).mean())
        for original, mutant in pairs_of_runs(original_right, mutant_right)
        if len(original)
    ]
    return float(np.mean(shares)) if shares else 0.0


def kill_rate_score(rates: Mapping[str, Sequence[KillRate]]) -> float | None:
    """For agents: by operator the kill rates of its configurations; the mean over operators of their means."""
    means = [_mean([rate.rate for rate in configurations]) for configurations in rates.values()]
    return _mean([mean for mean in means if mean is not None])


def subset_scores(right: npt.ArrayLike, index: npt.ArrayLike) -> list[float]:
    """One score per run on some of the inputs, from results [runs, inputs] (right or not, or errors): no training needed.

    `index`: numbers of inputs, or true and false for each.
    """
    results, chosen = np.asarray(right, dtype=float), np.asarray(index)
    if results.ndim != 2:
        raise UsageError(
            f"Results must have a row per run and a column per input, got shape {results.shape}."
        )
    picked = results[:, chosen] if chosen.size else results[:, :0]
    if not picked.shape[1]:
        raise UsageError(
            "The subset has no inputs, so it has no score. Choose classes or numbers that the test set has."
        )
    return [float(score) for score in picked.mean(axis=1)]


def pairs_needed(effect: float, power: float = STABLE, alpha: float = 0.05) -> int | None:
    """The fewest pairs with which the paired test has that power; None: not within 10,000."""
    if not 0 < power < 1:
        raise UsageError(f"The power asked for must lie between 0 and 1, got {power:g}; 0.8 is usual.")
    if effect <= 0 or paired_power(effect, _MOST_PAIRS, alpha) < power:
        return None
    low, high = 1, _MOST_PAIRS  # power grows with the number of pairs
    while high - low > 1:
        middle = (low + high) // 2
        if paired_power(effect, middle, alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
