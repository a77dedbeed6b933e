"""Episodes: what came of playing a list of starts, one number per start and quantity; kept as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Episodes:
    """All arrays have one entry per start. Measured at the environment itself, below every wrapper."""

    starts: Numbers  # [episodes, numbers of a start]
    features: (
        Numbers  # [episodes, …]: what a failure may be predicted from: the start, or the first observation
    )
    returns: Numbers  # sums of the environment's own rewards
    lengths: Numbers
    terminated: NDArray[np.bool_]  # a real end, not the time limit
    quality: Numbers  # the worst moment; NaN where the environment has no such measure
    final: Numbers  # mean quality of the last steps
    last_reward: Numbers

    def __len__(self) -> int:
        return len(self.returns)

    def chosen(self, index: NDArray[np.intp]) -> Episodes:
        return Episodes(**{item.name: getattr(self, item.name)[index] for item in fields(self)})

    def first(self, count: int) -> Episodes:
        return self.chosen(np.arange(min(count, len(self))))


def write(file: Path, sets: dict[str, Episodes]) -> None:
    """Several sets of episodes into one file."""
    arrays = {
        f"{name}/{item.name}": getattr(episodes, item.name)
        for name, episodes in sets.items()
        for item in fields(episodes)
    }
    temporary = file.with_suffix(".new.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(file)


def read(file: Path) -> dict[str, Episodes]:
    """The sets of a file; nothing is unpickled."""
    with np.load(file, allow_pickle=False) as data:
        names = dict.fromkeys(key.rpartition("/")[0] for key in data.files)
        return {
            name: Episodes(**{item.name: data[f"{name}/{item.name}"] for item in fields(Episodes)})
            for name in names
        }
