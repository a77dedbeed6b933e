"""Looking for the mildest fault of a ladder that is killed, with few trainings: halving, and no pair more than decides."""

from __future__ import annotations

from collections.abc import Generator

EVERY = 100  # looks: more than any ladder has steps


def mildest(count: int, looks: int) -> Generator[int, bool, int | None]:
    """Asks for indices of a ladder, is told whether they are killed, returns the mildest killed one that it found.

    The extreme first: a ladder of which not even that is killed is given up. Without a limit on looks, all are asked.
    """
    if looks >= EVERY:
        killed = []
        for index in range(count):
            killed.append((yield index))
        return next((index for index, dead in enumerate(killed) if dead), None)
    lower, upper = -1, count - 1
    if not (yield upper):
        return None
    for _ in range(looks - 1):
        if upper - lower <= 1:
            break
        middle = (lower + upper) // 2
        if (yield middle):
            upper = middle
        else:
            lower = middle
    return upper


def chunks(runs: int) -> list[int]:
    """Numbers of pairs after which to look: the fewest that can decide, then one at a time."""
    first = (runs + 1) // 2
    return list(range(first, runs + 1))
