"""The repair of a language model: choose a block, take a guarded step, look, keep the best."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from netmend.errors import UsageError
from netmend.mend.torch.language.blocks import Block, Chooser, block_norms, only
from netmend.mend.torch.language.descent import (
    Cached,
    Descent,
    Method,
    Objective,
    Recomputed,
    Reference,
    banned_tokens,
    margins,
    nll,
)
from netmend.mend.torch.language.loading import Originals
from netmend.mend.torch.language.passes import Passes, log_probability
from netmend.mend.torch.language.rows import Data, Pair, Row, collate

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


_One = TypeVar("_One")


@dataclass(frozen=True)
class Budget:
    """How long, how fast, and what decides. `keep_on`: where copies and the state of resting blocks lie."""

    steps: int = 160
    rate: float = 3e-5
    batch: int = 16
    guard_batch: int = 16
    look_batch: int = 16  # rows at once where no gradient is needed
    warm_up: int = 16
    clip: float = 0.5
    validate_every: int = 10
    patience: int = 8
    price: float = 2.0
    reference_tokens: int = 64
    reference: str = "cached"  # or "recomputed"
    keep_on: str | None = None

    def __post_init__(self) -> None:
        sizes = self.steps, self.batch, self.guard_batch, self.look_batch, self.validate_every
        if min(*sizes, self.reference_tokens) < 1:
            raise UsageError(
                "steps, batches, the validation interval and the reference's tokens must be at least 1"
            )
        if not self.rate > 0:
            raise UsageError(f"the learning rate must be above 0, and is {self.rate}")
        if self.reference not in ("cached", "recomputed"):
            raise UsageError(f"the reference can be cached or recomputed, not {self.reference!r}")


@dataclass(frozen=True)
class Attempt:
    """What one method did on validation data; the model holds the repaired weights."""

    method: str
    before: Measure
    after: Measure
    score: float
    steps: int
    kept_step: int
    share: float  # the part of the way that was kept: 1, but for methods that search the line
    seconds: float
    originals: Originals
    chosen: dict[str, int] = field(default_factory=dict)
    history: tuple[tuple[int, float, float], ...] = ()  # step, unwanted, loss on normal text


def mend(
    passes: Passes, data: Data, method: Method, budget: Budget, seed: int, judge: Judge | None = None
) -> Attempt:
    """Repair the model of `passes` in place; `Attempt.originals.put({})` takes everything back."""
    if not (data.pairs and data.validation_pairs and data.validation_guard) or (
        method.guard and not data.guard
    ):
        raise UsageError(
            "a repair needs pairs and normal text, both to learn from and to validate on; one is empty"
        )
    with passes.prepared():
        return _Repair(passes, data, method, budget, seed, judge).run()


class _Repair:
    def __init__(
        self, passes: Passes, data: Data, method: Method, budget: Budget, seed: int, judge: Judge | None
    ) -> None:
        self.passes, self.data, self.method, self.budget = passes, data, method, budget
        self.model: Any = passes.model
        self.random = random.Random(seed)
        self.originals = Originals(budget.keep_on)
        self.descent = Descent(budget.clip, budget.keep_on)
        self.meter = Meter(passes, data.validation_pairs, data.validation_guard, judge, budget.look_batch)
        self.pairs = self.guard = ()  # type: Sequence[Any]
        bad = self._fresh_norms if method.choice == "fixed" else self._bad_norms
        self.chooser = Chooser(method.choice, passes.blocks, bad, self._normal_norms, seed, samples=16)
        self.best: tuple[float, int, Measure, dict[str, Any]] | None = None

    def run(self) -> Attempt:
        started = time.perf_counter()
        before = self.meter.measure()
        objective = self._objective()
        history: list[tuple[int, float, float]] = []
        step = stale = 0
        for step in range(1, self.budget.steps + 1):
            self.pairs = self._drawn(self.data.pairs, self.budget.batch)
            self.guard = self._drawn(self.data.guard, self.budget.guard_batch) if self.data.guard else ()
            chosen = self.chooser.choose()
            self._step(objective, chosen, self.budget.rate * min(1.0, step / max(1, self.budget.warm_up)))
            if step % self.budget.validate_every and step < self.budget.steps:
                continue
            now = self.meter.measure()
            history.append((step, now.unwanted, now.loss))
            stale = 0 if self._kept(now, before, step) else stale + 1
            if stale >= self.budget.patience:
                break
        score, kept, after, values = self.best or (1.0, 0, before, {})
        self.originals.put(values)
        share = 1.0 if kept else 0.0
        if self.method.line and kept:
            score, after, share = self._line(values, before, score, after)
        counts = {name: count for name, count in self.chooser.counts.items() if count}
        seconds = time.perf_counter() - started
        return Attempt(
            self.method.name, before, after, score, step, kept, share, seconds, self.originals, counts, tuple(history)
        )  # fmt: skip

    def _step(self, objective: Objective, chosen: Sequence[Block], rate: float) -> None:
        for block in chosen:
            self.originals.keep(block)
        with only(self.model, chosen):
            objective.backward(self.pairs, self.guard)
            self.descent.step(chosen, rate)

    def _kept(self, now: Measure, before: Measure, step: int) -> bool:
        score = now.score(before, self.budget.price)
        if score >= (self.best[0] if self.best else 1.0):  # 1: nothing repaired, nothing lost
            return False
        self.best = (score, step, now, self.originals.snapshot())
        return True

    def _line(
        self, values: dict[str, Any], before: Measure, score: float, after: Measure
    ) -> tuple[float, Measure, float]:
        share = 1.0
        for tried in (0.4, 0.55, 0.7, 0.85, 1.15, 1.3):
            self.originals.put_between(values, tried)
            now = self.meter.measure()
            if (found := now.score(before, self.budget.price)) < score:
                score, after, share = found, now, tried
        self.originals.put_between(values, share)
        return score, after, share

    def _objective(self) -> Objective:
        rows = [*(self.data.guard if self.method.guard else ()), *(
            [pair.good for pair in self.data.pairs] if self.method.nearest else ())]  # fmt: skip
        reference: Reference | None = None
        if rows:
            tokens = self.budget.reference_tokens
            if self.budget.reference == "cached":
                reference = Cached(self.passes, rows, tokens, self.budget.look_batch, self.budget.keep_on)
            else:
                reference = Recomputed(self.passes, self.originals.restored, tokens)
        known = margins(self.passes, self.data.pairs, self.budget.look_batch) if self.method.prefer else {}
        return Objective(self.passes, self.method, reference, banned_tokens(self.data.pairs), known)

    def _bad_norms(self) -> list[float]:
        rows = [pair.bad for pair in self.pairs]
        return block_norms(self.model, self.passes.blocks, lambda: nll(self.passes, rows))

    def _fresh_norms(self) -> list[float]:
        """A block that is chosen once is chosen from many pairs, not from those of the first step."""
        rows = [pair.bad for pair in self._drawn(self.data.pairs, self.budget.batch)]
        return block_norms(self.model, self.passes.blocks, lambda: nll(self.passes, rows))

    def _normal_norms(self) -> list[float]:
        return block_norms(self.model, self.passes.blocks, lambda: nll(self.passes, self.guard, whole=True))

    def _drawn(self, among: Sequence[_One], count: int) -> Sequence[_One]:
        return self.random.sample(among, min(count, len(among)))
