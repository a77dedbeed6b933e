"""Shapes that fit each other only because one is stretched along the other."""

from __future__ import annotations

import math
from collections.abc import Sequence


def broadcast(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...] | None:
    """The shape that two tensors have together, element by element; None when they do not fit."""
    width = max(len(first), len(second))
    left = (1,) * (width - len(first)) + tuple(first)
    right = (1,) * (width - len(second)) + tuple(second)
    if any(a != b and 1 not in (a, b) for a, b in zip(left, right, strict=True)):
        return None
    return tuple(max(a, b) if 0 not in (a, b) else 0 for a, b in zip(left, right, strict=True))


def same_values(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether two shapes hold the same values and differ only in axes of length one."""
    return [size for size in first if size != 1] == [size for size in second if size != 1]


def stretched(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...] | None:
    """What [N, 1] and [N] become, [N, N]: two shapes of the same values that together hold many more. Else None."""
    together = broadcast(first, second)
    if together is None or not same_values(first, second):
        return None
    return together if math.prod(together) > math.prod(first) > 1 else None


def written(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
