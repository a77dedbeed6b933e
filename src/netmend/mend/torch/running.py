"""One run of a method: its data, its limits, and the best weights so far by what the hold-outs say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.torch.rates import Rates, rates
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.undisturbed import copied, put_back


@dataclass(frozen=True)
class Budget:
    """Limits that are the same for all methods, and how results are weighed on the hold-outs."""

    steps: int = 200
    failing_batch: int = 16
    guard_batch: int = 64
    rate: float = 2e-3
    look_every: int = 20  # steps between looks at the hold-outs
    patience: int = 0  # looks without a better one before stopping; 0: never
    population: int = 40
    generations: int = 40
    penalty: float = 5.0  # one part of the guard broken weighs as much as five parts of the failures repaired
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "failing_batch", "guard_batch", "look_every", "generations"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1; {getattr(self, name)} was given")
        if self.population < 4:
            raise UsageError(f"the population must be at least 4; {self.population} was given")
        if not self.rate > 0:
            raise UsageError(f"the rate must be above 0; {self.rate} was given")


@dataclass(eq=False)
class Run:
    """Handed to a method, which changes the model in place and calls `look` now and then."""

    model: nn.Module
    spec: Spec
    budget: Budget
    random: torch.Generator
    said: Callable[[int, Rates], None] | None = None
    started: float = field(default_factory=time.perf_counter)
    steps: int = 0
    evaluations: int = 0  # inputs put through the model, forward
    notes: list[str] = field(default_factory=list)
    _best: dict[str, Tensor] | None = None
    _best_worth: tuple[float, float] = (-float("inf"), -float("inf"))
    _without_gain: int = 0

    def worth(self, seen: Rates) -> tuple[float, float]:
        """Counts decide; between equal ones the smoother losses."""
        return seen.repaired - self.budget.penalty * seen.broken, -(0.5 * seen.loss + seen.drift)

    def look(self) -> bool:
        """Keep the weights if they are the best so far; False: stop."""
        if not self.spec.judged:
            return self.in_time
        seen = rates(self.model, self.spec.task, self.spec.failing_holdout, self.spec.guard_holdout)
        self.evaluations += len(self.spec.failing_holdout) + len(self.spec.guard_holdout)
        if self.said is not None:
            self.said(self.steps, seen)
        worth = self.worth(seen)
        if all(value == value for value in worth) and worth > self._best_worth:
            self._best, self._best_worth, self._without_gain = copied(self.model), worth, 0
        else:
            self._without_gain += 1
        patience = self.budget.patience
        return self.in_time and not (patience and self._without_gain >= patience)

    @property
    def in_time(self) -> bool:
        limit = self.budget.seconds
        return limit is None or time.perf_counter() - self.started < limit

    def settle(self) -> None:
        """The best weights; without hold-outs those of now."""
        if self._best is not None:
            put_back(self.model, self._best)
