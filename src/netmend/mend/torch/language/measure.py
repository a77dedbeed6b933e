"""How well a repair stands on validation data: what is still unwanted, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from netmend.mend.torch.language.passes import Passes, log_probability
from netmend.mend.torch.language.rows import Pair, Row, collate

Judge = Callable[[], float]  # how much of the unwanted behaviour is there now, from 0 on


@dataclass(frozen=True)
class Measure:
    """Unwanted behaviour and the mean log loss on normal text."""

    unwanted: float
    loss: float

    def score(self, before: Measure, price: float) -> float:
        """Smaller is better: the share still unwanted, and `price` times the relative growth of perplexity."""
        left = self.unwanted / before.unwanted if before.unwanted > 0 else 0.0
        found = left + price * max(0.0, math.expm1(min(self.loss - before.loss, 50.0)))
        return found if math.isfinite(found) else math.inf


class Meter:
    """Measures one model; without a judge, the unwanted is the chance of the bad turn at the fork."""

    def __init__(
        self,
        passes: Passes,
        pairs: Sequence[Pair],
        guard: Sequence[Row],
        judge: Judge | None,
        at_once: int = 64,
    ) -> None:
        self._passes, self._pairs, self._guard, self._at_once = passes, pairs, guard, at_once
        self._judge = judge or self._turns

    def measure(self) -> Measure:
        return Measure(self._judge(), mean_loss(self._passes, self._guard, self._at_once))

    @torch.no_grad()
    def _turns(self) -> float:
        chances: list[float] = []
        for start in range(0, len(self._pairs), self._at_once):
            part = self._pairs[start : start + self._at_once]
            rows = [Row(pair.bad.ids[: pair.fork + 1], pair.fork) for pair in part]
            batch = collate(rows, self._passes.device)
            chances += self._passes.each_place(batch, log_probability(batch)).exp().tolist()
        return sum(chances) / len(chances)


@torch.no_grad()
def mean_loss(passes: Passes, rows: Sequence[Row], at_once: int = 64) -> float:
    """The mean log loss of all tokens but each row's first."""
    total, count = 0.0, 0
    for start in range(0, len(rows), at_once):
        batch = collate(rows[start : start + at_once], passes.device, whole=True)
        found = passes.each_place(batch, log_probability(batch))
        total, count = total - float(found.sum()), count + found.numel()
    return total / count
