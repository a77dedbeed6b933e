"""The weak generator: of random starts, the easiest ones, as µPRL's TG_W takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.episodes import Episodes


def ease(originals: Sequence[Episodes]) -> NDArray[np.float64]:
    """How easy each start is: the worst moment over all runs of the program as it is; the mean return where moments are not measured."""
    quality = np.array([each.quality for each in originals])
    if np.isfinite(quality).any():
        return np.asarray(np.nan_to_num(quality, nan=0.0).min(axis=0))
    return np.asarray(np.nan_to_num(np.array([each.returns for each in originals]), nan=-np.inf).mean(axis=0))


def passed(failed: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Starts at which not more than half of the runs fail."""
    return np.asarray(np.mean(np.array(failed, dtype=float), axis=0) <= 0.5)


def easiest(
    originals: Sequence[Episodes], failed: Sequence[NDArray[np.bool_]], count: int
) -> NDArray[np.intp]:
    """Indices of the easiest starts that the originals mostly pass."""
    kept = np.flatnonzero(passed(failed))
    order = np.argsort(-ease(originals)[kept], kind="stable")
    return np.asarray(kept[order][:count])
