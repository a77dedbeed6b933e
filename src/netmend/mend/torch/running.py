"""One attempt at mending: a method runs within its limits, the best weights become a patch, the model is left as it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor, nn

from netmend.errors import UsageError
from netmend.mend.gate import Tally, worth
from netmend.mend.patch import Patch, patch_between
from netmend.mend.torch.spec import Examples, Spec, Task, scores_on
from netmend.mend.torch.state_file import weights_of
from netmend.mend.torch.undisturbed import copied, mendable, put_back, undisturbed


@torch.no_grad()
def tally(model: nn.Module, task: Task, failing: Examples, guard: Examples) -> Tally:
    """Of the model as it is now; who was wrong or right before is told by the reference scores."""
    with undisturbed(model), torch.no_grad():
        now, kept = scores_on(model, task, failing), scores_on(model, task, guard)
    was_wrong = (
        task.wrong(failing.reference, failing.wanted) if len(failing) else torch.zeros(0, dtype=torch.bool)
    )
    was_right = ~task.wrong(guard.reference, guard.wanted) if len(guard) else torch.zeros(0, dtype=torch.bool)
    repaired = was_wrong & ~task.wrong(now, failing.wanted) if len(failing) else was_wrong
    broken = was_right & task.wrong(kept, guard.wanted) if len(guard) else was_right
    return Tally(
        int(repaired.sum()),
        int(was_wrong.sum()),
        int(broken.sum()),
        int(was_right.sum()),
        float(task.losses(now, failing.wanted).mean()) if len(failing) else 0.0,
        float(task.drift(kept, guard.reference).mean()) if len(guard) else 0.0,
    )


@dataclass(frozen=True)
class Budget:
    """Limits that are the same for all methods, and how results are weighed on the hold-outs."""

    steps: int = 200
    failing_batch: int = 16
    guard_batch: int = 64
    rate: float = 2e-3
    look_every: int = 20  # steps between looks at the hold-outs
    population: int = 40
    generations: int = 40

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
    said: Callable[[int, Tally], None] | None = None
    steps: int = 0
    notes: list[str] = field(default_factory=list)
    _best: dict[str, Tensor] | None = None
    _best_order: tuple[float, float] = (-float("inf"), -float("inf"))

    def look(self) -> None:
        """Keep the weights if they are the best so far."""
        if not self.spec.judged:
            return
        seen = tally(self.model, self.spec.task, self.spec.failing_holdout, self.spec.guard_holdout)
        if self.said is not None:
            self.said(self.steps, seen)
        # Counts decide; between equal ones the smoother losses.
        order = worth(seen), -(0.5 * seen.loss + seen.drift)
        if all(value == value for value in order) and order > self._best_order:
            self._best, self._best_order = copied(self.model), order

    def settle(self) -> None:
        """The best weights; without hold-outs those of now."""
        if self._best is not None:
            put_back(self.model, self._best)


class Method(Protocol):
    """How to mend: changes `run.model` in place."""

    @property
    def name(self) -> str: ...

    @property
    def what(self) -> str:
        """One line for people."""
        ...

    def mend(self, run: Run) -> None: ...


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a method did: its patch, how it does on the data it saw and on the hold-outs, and what it cost."""

    method: str
    seed: int
    patch: Patch
    seen: Tally  # on the failing and guard inputs that repair used
    held_out: Tally
    seconds: float
    steps: int
    notes: tuple[str, ...] = ()

    @property
    def repaired(self) -> float:
        return self.seen.repaired_share or 0.0

    @property
    def broken(self) -> float:
        return self.seen.broken_share or 0.0


def mend(
    model: nn.Module,
    spec: Spec,
    method: Method,
    budget: Budget | None = None,
    seed: int = 0,
    said: Callable[[int, Tally], None] | None = None,
) -> Attempt:
    """Try one method. The model's weights, modes and gradients are afterwards what they were, bit for bit."""
    budget = budget or Budget()
    started = time.perf_counter()
    first = copied(model)
    before = weights_of(model).copied()
    run = Run(model, spec, budget, torch.Generator().manual_seed(seed), said)
    try:
        with undisturbed(model):
            method.mend(run)
            run.settle()
            refused = _refuse_non_finite(model, first)
        seconds = time.perf_counter() - started
        seen = tally(model, spec.task, spec.failing, spec.guard)
        held_out = tally(model, spec.task, spec.failing_holdout, spec.guard_holdout)
        facts = {"method": method.name, "seed": str(seed), "steps": str(run.steps)}
        patch = patch_between(before, weights_of(model), facts)
    finally:
        weights_of(model).take(before)
    notes = tuple(run.notes) + refused
    return Attempt(method.name, seed, patch, seen, held_out, seconds, run.steps, notes)


def _refuse_non_finite(model: nn.Module, first: dict[str, torch.Tensor]) -> tuple[str, ...]:
    """A method that ran away leaves no patch."""
    if all(bool(torch.isfinite(one).all()) for one in mendable(model).values()):
        return ()
    put_back(model, first)
    return ("the weights became infinite or NaN and were put back; try a smaller rate",)
