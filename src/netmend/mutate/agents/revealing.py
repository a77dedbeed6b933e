"""Which starts reveal which mutants: the original passes, the mutant fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.environments.space import Rows, Space
from netmend.mutate.agents.result import Covering, Revealing

Failed = NDArray[np.bool_]  # per start
_HALF = 0.5


def told_apart(original: Sequence[Failed], mutant: Sequence[Failed]) -> NDArray[np.float64]:
    """Per start, the share of the pairs that it tells apart."""
    apart = [~old & new for old, new in zip(original, mutant, strict=True)]
    return np.asarray(np.mean(apart, axis=0), dtype=np.float64)


def most_revealing(
    sets: Mapping[str, tuple[Rows, NDArray[np.float64]]], space: Space, count: int = 3
) -> tuple[Revealing, ...]:
    """The best starts of all generators; `sets`: name → starts and the share of pairs that each tells apart."""
    found = [
        Revealing(tuple(map(float, start)), space.words(start), float(share), name)
        for name, (starts, shares) in sets.items()
        for start, share in zip(starts, shares, strict=True)
        if share > 0
    ]
    return tuple(sorted(found, key=lambda each: -each.share)[:count])


def covering(
    shared: Mapping[str, tuple[Rows, Mapping[str, NDArray[np.float64]]]], space: Space, most: int = 8
) -> tuple[Covering, ...]:
    """A few starts that together reveal as many mutants as can be, chosen greedily.

    `shared`: generator → its starts, the same for all mutants, and per mutant the share of pairs that each tells apart.
    """
    rows: list[tuple[str, NDArray[np.float64], dict[str, float]]] = []
    for name, (starts, mutants) in shared.items():
        for index, start in enumerate(starts):
            reveals = {
                each: float(shares[index]) for each, shares in mutants.items() if shares[index] >= _HALF
            }
            if reveals:
                rows.append((name, start, reveals))
    left = {mutant for _, _, reveals in rows for mutant in reveals}
    found: list[Covering] = []
    while left and len(found) < most:
        name, start, reveals = max(rows, key=lambda row: (len(left & row[2].keys()), sum(row[2].values())))
        found.append(Covering(tuple(map(float, start)), space.words(start), name, tuple(sorted(reveals))))
        left -= reveals.keys()
    return tuple(found)
