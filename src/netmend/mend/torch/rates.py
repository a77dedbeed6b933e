"""How a changed model does: what is repaired, what is broken, how far answers have moved."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from netmend.mend.torch.spec import Examples, scores_on
from netmend.mend.torch.tasks import Task
from netmend.mend.torch.undisturbed import undisturbed


@dataclass(frozen=True)
class Rates:
    """Shares with the counts behind them; a rate of nothing is 0."""

    repaired_count: int
    failing: int  # inputs that were wrong before
    broken_count: int
    guarded: int  # inputs that were right before
    loss: float  # mean on the failing inputs
    drift: float  # mean distance of the guard's answers from those before

    @property
    def repaired(self) -> float:
        return self.repaired_count / self.failing if self.failing else 0.0

    @property
    def broken(self) -> float:
        return self.broken_count / self.guarded if self.guarded else 0.0


@torch.no_grad()
def rates(model: nn.Module, task: Task, failing: Examples, guard: Examples) -> Rates:
    """Of the model as it is now; who was wrong or right before is told by the reference scores."""
    with undisturbed(model), torch.no_grad():
        now, kept = scores_on(model, task, failing), scores_on(model, task, guard)
    was_wrong = (
        task.wrong(failing.reference, failing.wanted) if len(failing) else torch.zeros(0, dtype=torch.bool)
    )
    was_right = ~task.wrong(guard.reference, guard.wanted) if len(guard) else torch.zeros(0, dtype=torch.bool)
    repaired = was_wrong & ~task.wrong(now, failing.wanted) if len(failing) else was_wrong
    broken = was_right & task.wrong(kept, guard.wanted) if len(guard) else was_right
    return Rates(
        int(repaired.sum()),
        int(was_wrong.sum()),
        int(broken.sum()),
        int(was_right.sum()),
        float(task.losses(now, failing.wanted).mean()) if len(failing) else 0.0,
        float(task.drift(kept, guard.reference).mean()) if len(guard) else 0.0,
    )
