"""Space: the starts that an environment can be given, and what makes an episode in it a failure.

A start is a row of numbers: the state where it can be set, otherwise the seed of the reset. Nothing here imports gymnasium; the methods
that touch an environment are called with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netmend.mutate.agents.criteria import Criterion

Rows = NDArray[np.float64]
_MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Space:
    """Base: any environment, its start chosen by the seed of the reset. Others set the state that they name."""

    ids: tuple[str, ...] = ()  # names of environments without their version
    names: tuple[str, ...] = ("seed",)
    lower: tuple[float, ...] = (0.0,)
    upper: tuple[float, ...] = (float(_MOST_SEED),)
    wide_lower: tuple[float, ...] = ()  # a larger range that can still be played; empty: there is none
    wide_upper: tuple[float, ...] = ()
    default: Criterion | None = None
    has_quality: bool = False

    @property
    def is_seeded(self) -> bool:
        return self.names == ("seed",)

    def sample(self, count: int, random: np.random.Generator, wide: bool = False) -> Rows:
        """Starts drawn evenly; those that the environment itself draws from, or from the larger range."""
        if self.is_seeded:
            return random.integers(0, _MOST_SEED, size=(count, 1)).astype(np.float64)
        lower, upper = (
            (self.wide_lower, self.wide_upper) if wide and self.wide_lower else (self.lower, self.upper)
        )
        return np.asarray(random.uniform(lower, upper, size=(count, len(self.names))), dtype=np.float64)

    def put(self, env: Any, start: Rows) -> Any:
        """Set the state of an environment that was just reset; the observation of it. Not called where seeds are starts."""
        raise NotImplementedError

    def read(self, env: Any) -> tuple[float, ...] | None:
        """The start that an environment has just taken by itself; None where it cannot be read."""
        return None

    def quality(self, env: Any) -> float:
        """How well things are under control now, 0 (failed) to 1."""
        return float("nan")

    def words(self, start: Rows) -> str:
        """As a user can paste it: `x=0.031 …`."""
        if self.is_seeded:
            return f"env.reset(seed={int(start[0])})"
        return "env.unwrapped.state = [" + ", ".join(f"{value:.4g}" for value in start) + "]"


class WithState(Space):
    """Environments that keep all there is in `state`."""

    def put(self, env: Any, start: Rows) -> Any:
        env.state = np.array(start, dtype=np.float64)
        return self.observed(env)

    def observed(self, env: Any) -> Any:
        return np.array(env.state, dtype=np.float32)

    def read(self, env: Any) -> tuple[float, ...] | None:
        state = getattr(env, "state", None)
        return None if state is None else tuple(float(value) for value in state)
