"""What an optimiser lowers: a repair term on failing inputs and a guard term on those that must stay."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from netmend.errors import UsageError
from netmend.mend.torch.spec import Examples, Spec
from netmend.mend.torch.tasks import Task

WANTED, PREFERENCE, VIOLATION = "wanted", "preference", "violation"
KL, LOGITS, LABELS, NONE = "kl", "logits", "labels", "none"
REPAIRS, GUARDS = (WANTED, PREFERENCE, VIOLATION), (KL, LOGITS, LABELS, NONE)


@dataclass(frozen=True)
class Objective:
    """alpha · repair + guard; alpha of IRepair, which left the guard term whole."""

    repair: str = WANTED
    guard: str = KL
    alpha: float = 0.5
    beta: float = 0.1  # of the preference term, as in DPO's published settings
    margin: float = 1.0  # by which the wanted class must lead, for the violation term
    labels: float = 0.0  # weight of the guard inputs' own labels beside the guard term

    def __post_init__(self) -> None:
        if self.repair not in REPAIRS or self.guard not in GUARDS:
            raise UsageError(
                f"no objective is called {self.repair}+{self.guard}; repair terms are {', '.join(REPAIRS)}, "
                f"guard terms {', '.join(GUARDS)}"
            )

    def __call__(self, model: nn.Module, batch: Spec) -> Tensor:
        """One forward pass over both parts: small models spend their time on calls, not on inputs."""
        task, failing = batch.task, batch.failing
        guarded = self.guard != NONE or self.labels > 0
        both = failing.joined(batch.guard) if guarded else failing
        scores = task.scores(model(*both.inputs))
        loss = self.alpha * self.repair_term(task, scores[: len(failing)], failing).mean()
        if guarded:
            loss = loss + self.guard_term(task, scores[len(failing) :], batch.guard).mean()
        return loss

    def repair_term(self, task: Task, scores: Tensor, data: Examples) -> Tensor:
        if self.repair == WANTED or not task.classes:
            return task.losses(scores, data.wanted)
        observed = data.reference.argmax(dim=-1)
        if self.repair == PREFERENCE:
            # How much more than at first the wanted answer is preferred to the one that was given.
            now = task.losses(scores, observed) - task.losses(scores, data.wanted)
            first = task.losses(data.reference, observed) - task.losses(data.reference, data.wanted)
            return -functional.logsigmoid(self.beta * (now - first))
        wanted = data.wanted.unsqueeze(-1)
        others = scores.scatter(-1, wanted, -torch.inf).amax(dim=-1)
        return (self.margin + others - scores.gather(-1, wanted).squeeze(-1)).clamp_min(0.0)

    def guard_term(self, task: Task, scores: Tensor, data: Examples) -> Tensor:
        if self.guard == KL:
            term = task.drift(scores, data.reference)
        elif self.guard == LOGITS:
            term = (scores - data.reference).square().mean(dim=-1)
        elif self.guard == LABELS:
            return task.losses(scores, data.wanted)
        else:
            term = scores.new_zeros(len(scores))
        return term + self.labels * task.losses(scores, data.wanted) if self.labels else term
