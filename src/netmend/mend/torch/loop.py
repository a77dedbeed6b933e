"""One attempt at mending: a method runs, the best weights become a patch, the model is left as it was."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from netmend.mend.patch import Patch, patch_between
from netmend.mend.torch.rates import Rates, rates
from netmend.mend.torch.running import Budget, Run
from netmend.mend.torch.spec import Spec
from netmend.mend.torch.state_file import TensorWeights, weights_of
from netmend.mend.torch.undisturbed import copied, mendable, put_back, undisturbed


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
    seen: Rates  # on the failing and guard inputs that repair used
    held_out: Rates
    seconds: float
    steps: int
    evaluations: int
    notes: tuple[str, ...] = ()

    @property
    def repaired(self) -> float:
        return self.seen.repaired

    @property
    def broken(self) -> float:
        return self.seen.broken

    @property
    def generalised(self) -> float:
        return self.held_out.repaired


def mend(
    model: nn.Module,
    spec: Spec,
    method: Method,
    budget: Budget | None = None,
    seed: int = 0,
    said: Callable[[int, Rates], None] | None = None,
) -> Attempt:
    """Try one method. The model's weights, modes and gradients are afterwards what they were, bit for bit."""
    budget = budget or Budget()
    started = time.perf_counter()
    first = copied(model)
    before = TensorWeights({name: one.clone() for name, one in weights_of(model).tensors.items()})
    run = Run(model, spec, budget, torch.Generator().manual_seed(seed), said)
    try:
        with undisturbed(model):
            method.mend(run)
            run.settle()
            refused = _refuse_non_finite(model, first)
        seconds = time.perf_counter() - started
        seen = rates(model, spec.task, spec.failing, spec.guard)
        held_out = rates(model, spec.task, spec.failing_holdout, spec.guard_holdout)
        patch = patch_between(before, weights_of(model), _facts(method, seed, run, seen, held_out))
    finally:
        _restore(model, before)
    notes = tuple(run.notes) + refused
    return Attempt(method.name, seed, patch, seen, held_out, seconds, run.steps, run.evaluations, notes)


@torch.no_grad()
def _restore(model: nn.Module, before: TensorWeights) -> None:
    """Buffers too: some modules change theirs even in evaluation mode."""
    for name, one in weights_of(model).tensors.items():
        one.copy_(before.tensors[name])


def _refuse_non_finite(model: nn.Module, first: dict[str, torch.Tensor]) -> tuple[str, ...]:
    """A method that ran away leaves no patch."""
    if all(bool(torch.isfinite(one).all()) for one in mendable(model).values()):
        return ()
    put_back(model, first)
    return ("the weights became infinite or NaN and were put back; try a smaller rate",)


def _facts(method: Method, seed: int, run: Run, seen: Rates, held_out: Rates) -> dict[str, str]:
    figures = {
        "repaired": seen.repaired,
        "broken": seen.broken,
        "generalised": held_out.repaired,
        "broken_holdout": held_out.broken,
        "drift": held_out.drift if math.isfinite(held_out.drift) else None,
    }
    return {"method": method.name, "seed": str(seed), "steps": str(run.steps), "metrics": json.dumps(figures)}
