"""What a search for a patch is asked for, and the user's inputs in three parts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from netmend.errors import UsageError

# The user's inputs in three parts: to learn from, to choose by, and to judge by.

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


# What a search for a patch is asked for.

AUTO = "auto"


@dataclass(frozen=True)
class MendOptions:
    """Limits and choices. No methods named: netmend tries its own selection. `bound`: the largest share of the guard that may break."""

    methods: tuple[str, ...] = ()
    steps: int = 400
    rates: tuple[float, ...] = (2e-3, 2e-4)  # each method that learns is tried at each of them
    seed: int = 0
    bound: float = 0.01
    tolerance: float | None = None  # where outputs are numbers: farther than this is wrong
    directory: Path | None = None  # where attempts are kept; None: below $NETMEND_DIR or ./.netmend

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise UsageError(f"the number of steps must be at least 1; got {self.steps}")
        if not self.rates or not all(math.isfinite(rate) and rate > 0 for rate in self.rates):
            raise UsageError(f"learning rates must be above 0; got {list(self.rates)}")
        if not 0 <= self.bound < 1:
            raise UsageError(
                f"the bound is the share of the guard that may break, 0 to 1, such as 0.01; got {self.bound:g}"
            )
        if self.tolerance is not None and not self.tolerance >= 0:
            raise UsageError(f"the tolerance must be 0 or more; got {self.tolerance:g}")
        if self.seed < 0:
            raise UsageError(f"the seed must be 0 or more; got {self.seed}")


def parse_methods(text: str) -> tuple[str, ...]:
    """`auto` → (), `fine_tune_kl,arachne` → both; a name that is written twice counts once."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if names == (AUTO,):
        return ()
    if "" in names or AUTO in names:
        raise UsageError(f"--method takes auto, or names separated by commas; got {text!r}")
    return names


def parse_rates(text: str) -> tuple[float, ...]:
    """`0.002,0.0002`."""
    try:
        return tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        raise UsageError(f"--rate takes numbers separated by commas; got {text!r}") from None
