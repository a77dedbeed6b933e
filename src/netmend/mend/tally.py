"""What a patch does to a set of inputs, counted: failures repaired, guard inputs broken."""

from __future__ import annotations

from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True)
class Tally:
    """Counts of what was repaired and broken, with those that could have been."""

    repaired: int
    failing: int
    broken: int
    guarded: int
    loss: float = 0.0  # mean on the failing inputs
    drift: float = 0.0  # mean distance of the guard's answers from those before

    @property
    def repaired_share(self) -> float | None:
        """None: there was nothing to repair."""
        return self.repaired / self.failing if self.failing else None

    @property
    def broken_share(self) -> float | None:
        return self.broken / self.guarded if self.guarded else None

    @property
    def repaired_interval(self) -> Interval:
        return interval(self.repaired, self.failing)

    @property
    def broken_interval(self) -> Interval:
        return interval(self.broken, self.guarded)


def interval(count: int, total: int) -> Interval:
    """95 %, exact (Clopper and Pearson): it never claims too much, also of few inputs."""
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, 0.025)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 0.975)) if count < total else 1.0
    return low, high
