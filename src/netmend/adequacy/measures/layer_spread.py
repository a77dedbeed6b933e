"""NLC: how widely a layer's units vary together over a set of inputs (Yuan et al., ICSE 2023)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netmend.adequacy.arrays import Floats, finite_rows
from netmend.adequacy.measures.example import Example


@dataclass(frozen=True)
class Spread:
    """Count, mean and sums of products around it; two of them can be put together, so that data may come in batches."""

    count: int
    mean: Floats
    products: Floats

    def merged(self, other: Spread) -> Spread:
        if not self.count or not other.count:
            return self if self.count else other
        count = self.count + other.count
        away = other.mean - self.mean
        between = np.outer(away, away) * (self.count * other.count / count)
        mean = self.mean + away * (other.count / count)
        return Spread(count, mean, self.products + other.products + between)

    @property
    def size(self) -> float:
        """The mean absolute entry of the covariance matrix; 0 for fewer than two inputs."""
        return float(np.abs(self.products).mean() / self.count) if self.count > 1 else 0.0


def spread_of(rows: Floats) -> Spread:
    """Of one batch; inputs that are not finite are left out."""
    rows = rows[finite_rows(rows)]
    if not len(rows):
        return Spread(0, np.zeros(rows.shape[1]), np.zeros((rows.shape[1], rows.shape[1])))
    mean = rows.mean(axis=0)
    away = rows - mean
    return Spread(len(rows), mean, away.T @ away)


def layer_spread(rows: Floats) -> float:
    """What one layer adds to NLC; NLC is the sum over layers.

    The published procedure feeds batches one by one and keeps those that make the value grow, so it depends on their order;
    here all inputs count and the order does not matter.
    """
    return spread_of(rows).size


MEASURE = layer_spread
EXAMPLES = (
    Example("two units that move together", {"rows": [[0, 0], [2, 2]]}, 1.0),
    Example("only one of two units moves", {"rows": [[0, 5], [2, 5]]}, 0.25),
    Example("against each other counts as much", {"rows": [[0, 2], [2, 0]]}, 1.0),
    Example("constant activations", {"rows": [[3, 3], [3, 3], [3, 3]]}, 0.0),
    Example("one input has no spread", {"rows": [[1, 2]]}, 0.0),
    Example("no input", {"rows": np.empty((0, 2))}, 0.0),
    Example("what is not finite is left out", {"rows": [[0, 0], [float("nan"), 9], [2, 2]]}, 1.0),
)
