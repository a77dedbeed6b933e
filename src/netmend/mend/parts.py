"""The user's inputs in three parts: to learn from, to choose by, and to judge by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
FEWEST = 5  # different inputs, from which on some are kept back


@dataclass(frozen=True, eq=False)
class Parts:
    """Places of inputs. `shared`: there were too few, so that what repair sees is chosen by as well, and none is unseen."""

    repair: Places
    validation: Places
    unseen: Places
    shared: bool = False


def parts_of(inputs: Sequence[Hashable], key: Sequence[int], validated: bool = False) -> Parts:
    """Three fifths, a fifth and a fifth, drawn by the key (a seed and what tells sets apart); equal inputs stay together.

    `validated`: there is other data to choose by, so that only a fifth is kept back, unseen.
    """
    groups: dict[Any, list[int]] = {}
    for place, one in enumerate(inputs):
        groups.setdefault(one, []).append(place)
    none, everything = _places([]), _places([list(range(len(inputs)))])
    if len(groups) < FEWEST:
        return Parts(everything, none if validated else everything, none, shared=True)
    held = list(groups.values())
    order = [held[at] for at in np.random.default_rng(list(key)).permutation(len(held))]
    fifth = len(order) // 5
    chosen = 0 if validated else fifth
    return Parts(
        _places(order[fifth + chosen :]), _places(order[fifth : fifth + chosen]), _places(order[:fifth])
    )


def _places(groups: Sequence[Sequence[int]]) -> Places:
    return np.array(sorted(place for group in groups for place in group), dtype=np.int64)
