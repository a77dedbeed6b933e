"""How much of the error of the first kind may be spent at each look at growing data, so that all looks together keep the level.

A test at 0.05 that is repeated at 3, 5, 8 and 10 runs errs in more than 5 % of the cases. Lan and DeMets let a rising function of the share
of data say how much may have been spent by then; what is new at a look, given that no earlier one has rejected, is its boundary.
For normal sums that is a recursion of integrals over the density of the sum that has not crossed yet; here by Gauss-Legendre
quadrature. The function is the one that resembles Pocock's boundaries: most mutants are either plainly dead or as good as the original,
and nearly equal limits at all looks let the plain ones be told early.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from netmend.vocabulary.table import FloatArray

_NODES = 400
_FAR = 8.0  # standard deviations below which a sum is never met


def spent(share: float, alpha: float) -> float:
    """Of alpha, when so much of the data has been seen."""
    return alpha * math.log(1 + (math.e - 1) * min(1.0, share))


@cache
def boundaries(shares: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    """The p-value at or below which each look rejects. `shares`: of the data, rising, the last one 1."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    levels: list[float] = []
    places: FloatArray = np.zeros(1)  # where the sum may be, not having crossed
    masses: FloatArray = np.ones(1)  # and how probably
    seen = 0.0
    for share in shares:
        deviation = math.sqrt(share - seen)
        new = spent(share, alpha) - spent(seen, alpha)
        limit = _limit(places, masses, deviation, new)
        levels.append(float(ndtr(-limit / math.sqrt(share))))
        low = -_FAR * math.sqrt(share)
        half = (limit - low) / 2
        at = low + half * (nodes + 1)
        density = np.exp(-0.5 * ((at[:, None] - places) / deviation) ** 2) / (
            deviation * math.sqrt(2 * math.pi)
        )
        places, masses = at, (density @ masses) * weights * half
        seen = share
    return tuple(levels)


def _limit(places: FloatArray, masses: FloatArray, deviation: float, mass: float) -> float:
    """Where the new sum exceeds it with the given probability, by bisection."""
    from scipy.special import ndtr

    low, high = -_FAR, _FAR
    for _ in range(60):
        middle = (low + high) / 2
        if float(ndtr((places - middle) / deviation) @ masses) > mass:
            low = middle
        else:
            high = middle
    return (low + high) / 2
