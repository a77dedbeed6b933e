"""Running figures of rewards and observations: what an environment handed out, without keeping it."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

import numpy as np

MOST_FEATURES = 64


class RewardFigures:
    """Count, mean, spread, range of numbers that come one by one."""

    def __init__(self) -> None:
        self.count = self.bad = 0
        self.total = self.squares = 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, value: float) -> None:
        if value - value != 0.0:  # infinite or not a number
            self.bad += 1
            return
        self.count += 1
        self.total += value
        self.squares += value * value
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value

    def add_all(self, values: list[float]) -> None:
        """Many at once, in a tenth of the time."""
        total = sum(values)
        if total - total != 0.0 or not values:
            for value in values:
                self.add(value)
            return
        self.count += len(values)
        self.total += total
        self.squares += sum(map(mul, values, values))
        self.low, self.high = min(self.low, *values), max(self.high, *values)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    @property
    def std(self) -> float | None:
        if not self.count:
            return None
        mean = self.total / self.count
        return math.sqrt(max(0.0, self.squares / self.count - mean * mean))


class FeatureFigures:
    """Root mean square and range per feature; looks at every observation first, then ever more rarely."""

    def __init__(self, dense: int = 200) -> None:
        self._dense = dense
        self._asked = 0
        self._next = 0
        self.looks = self.bad = 0
        self.shape: tuple[int, ...] = ()
        self.kind = ""
        self._squares: Any = None
        self._low: Any = None
        self._high: Any = None

    def wanted(self) -> bool:
        """Whether the observation at hand is one to look at."""
        self._asked += 1
        if self._asked <= self._next:
            return False
        distance = 1 if self._asked < self._dense else max(2, self._asked // self._dense)
        self._next = self._asked + distance - 1
        return True

    def add(self, rows: Any) -> None:
        """One observation per row."""
        values = np.asarray(rows)
        if values.dtype.kind not in "fiub" or values.ndim < 1 or not values.size:
            return
        if not self.kind:
            self.shape, self.kind = tuple(int(n) for n in values.shape[1:]), str(values.dtype)
        flat = values.reshape(len(values), -1)[:, :MOST_FEATURES].astype(np.float64)
        if self._squares is None:
            self._squares = np.zeros(flat.shape[1])
            self._low, self._high = np.full(flat.shape[1], np.inf), np.full(flat.shape[1], -np.inf)
        if flat.shape[1] != len(self._squares):
            return
        if not np.isfinite(flat).all():
            self.bad += 1
            return
        self.looks += len(flat)
        self._squares += (flat * flat).sum(axis=0)
        np.minimum(self._low, flat.min(axis=0), out=self._low)
        np.maximum(self._high, flat.max(axis=0), out=self._high)

    def figures(self) -> dict[str, Any]:
        """The fields of a WorldFact."""
        if not self.looks:
            return {"observation_shape": self.shape, "observation_type": self.kind}
        return {
            "observation_shape": self.shape,
            "observation_type": self.kind,
            "feature_rms": tuple(np.sqrt(self._squares / self.looks).tolist()),
            "feature_low": tuple(self._low.tolist()),
            "feature_high": tuple(self._high.tolist()),
        }
