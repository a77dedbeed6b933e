"""Forecast: how many times as long a run would have to be for its loss to come down to a level.

Two readings of the second half of the curve bound the answer: that the loss goes on shrinking by the same factor with every step
(the best that can be hoped for), and that it shrinks by the same factor whenever the run gets twice as long (as most curves do).
"""

from __future__ import annotations

import math

import numpy as np

from netmend.diagnose.measures.progress import Progress

_LEAST_BLOCKS = 4  # block means that a trend needs
_LEAST_FALL = 0.005  # of the loss over the half that is looked at


def times_longer(course: Progress, level: float) -> tuple[float, float] | None:
    """Best and worst case, in lengths of the run as it was; None where the curve has no trend to go by.

    `level` is the wanted loss as a share of the last one.
    """
    count = len(course.losses)
    if count < _LEAST_BLOCKS or course.losses.min() <= 0 or not 0 < level < 1:
        return None
    half = count // 2
    late = np.log(course.losses[half:])
    # The median of all slopes: one odd block does not turn it.
    pairs = [(late[b] - late[a]) / (b - a) for a in range(len(late)) for b in range(a + 1, len(late))]
    slope = float(np.median(pairs))
    fall = -slope * (count - half)
    noise = float(np.hypot(course.errors[half] / course.losses[half], course.errors[-1] / course.losses[-1]))
    if fall < max(_LEAST_FALL, 2 * noise):
        return None
    wanted = -math.log(level)
    best = 1 + wanted / (-slope * count)
    doublings = wanted / (fall * math.log(2) / math.log(count / max(half, 1)))
    return best, max(best, 2.0 ** min(doublings, 20.0))
