"""The edge generator: the hardest starts that the program as it is still passes. One list for all mutants, so it can be kept as a test suite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.episodes import Episodes
from netmend.mutate.agents.generators.weak import ease


def hardest_passed(
    originals: Sequence[Episodes], failed: Sequence[NDArray[np.bool_]], count: int
) -> NDArray[np.intp]:
    """Indices of starts that fewest runs fail at, the hardest of them first; none where every run fails at all of them."""
    share = np.mean(np.array(failed, dtype=float), axis=0)
    kept = np.flatnonzero(share <= 0.5)
    easy = ease(originals)[kept]
    order = np.lexsort((easy, share[kept] > 0))  # first those that no run fails at
    return np.asarray(kept[order][:count])
