"""How good a ranking is: Top@k, reciprocal rank, average precision; means over reports with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NAMES = ("top1", "top5", "top10", "rr", "ap")
_DRAWS = 2_000
_SEED = 9  # the same interval every time the same results are read


@dataclass(frozen=True)
class Ranked:
    """Where the fixed files of a report came in its ranking."""

    ranks: tuple[int, ...]  # from 1, ascending; fixed files that are no candidates have none
    gold: int  # how many fixed files there are, candidates or not
    candidates: int

    @property
    def values(self) -> tuple[float, float, float, float, float]:
        """In the order of NAMES."""
        best = min(self.ranks, default=0)
        hits = [float(0 < best <= count) for count in (1, 5, 10)]
        precision = sum(place / rank for place, rank in enumerate(sorted(self.ranks), 1)) / self.gold
        return hits[0], hits[1], hits[2], 1 / best if best else 0.0, precision


@dataclass(frozen=True)
class Figures:
    """Means over reports, each with a 95 % interval, and the mean over projects of the projects' means."""

    reports: int
    mean: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    macro: Mapping[str, float]
    candidates: float  # mean number


def rank(scores: NDArray[np.floating], paths: Sequence[str], gold: frozenset[str]) -> Ranked:
    """Equal scores are ordered by path; a score that is not a number comes last."""
    if len(scores) != len(paths):
        raise ValueError(f"{len(scores)} scores for {len(paths)} files")
    by_path = np.asarray(sorted(range(len(paths)), key=paths.__getitem__), dtype=int)
    cleaned = np.nan_to_num(np.asarray(scores, dtype=float)[by_path], nan=-np.inf)
    order = by_path[np.argsort(-cleaned, kind="stable")]
    places = [place for place, number in enumerate(order, 1) if paths[number] in gold]
    return Ranked(tuple(places), len(gold), len(paths))


def figures(results: Mapping[str, Ranked], project_of: Mapping[str, str]) -> Figures:
    """Over the reports in `results` (by id)."""
    if not results:
        raise ValueError("no report to take the mean of")
    ids = sorted(results)
    table = np.array([results[name].values for name in ids])
    low, high = np.quantile(_redrawn(len(ids)) @ table / len(ids), [0.025, 0.975], axis=0)
    projects: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(ids):
        projects[project_of[name]].append(number)
    macro = np.mean([table[rows].mean(axis=0) for rows in projects.values()], axis=0)
    return Figures(
        len(ids),
        _named(table.mean(axis=0)),
        _named(low),
        _named(high),
        _named(macro),
        float(np.mean([results[name].candidates for name in ids])),
    )


def difference(
    ours: Mapping[str, Ranked], theirs: Mapping[str, Ranked], name: str = "ap"
) -> tuple[float, float, float]:
    """Mean of ours minus theirs over the reports both have, and its 95 % interval (reports drawn in pairs)."""
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise ValueError("no report that both have")
    column = NAMES.index(name)
    gap = np.array([ours[report].values[column] - theirs[report].values[column] for report in shared])
    low, high = np.quantile(_redrawn(len(gap)) @ gap / len(gap), [0.025, 0.975])
    return float(gap.mean()), float(low), float(high)


@lru_cache(maxsize=4)
def _redrawn(count: int) -> NDArray[np.floating]:
    """How often each of so many reports is drawn, in every draw: the same draws for all methods."""
    return np.random.default_rng(_SEED).multinomial(count, np.full(count, 1 / count), _DRAWS).astype(float)


def _named(values: NDArray[np.floating]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(NAMES, values, strict=True)}
