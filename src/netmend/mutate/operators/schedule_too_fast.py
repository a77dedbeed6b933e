"""M108."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loop.loop_code import optimizer_at, spots
from netmend.changes.loop.rate_places import set_setting
from netmend.mutate.examples import LOG_PROBABILITIES, STACK
from netmend.mutate.magnitude import Knob, Scale, knob
from netmend.mutate.mutation import Mutation, mutation, register
from netmend.program.source.naming import spelled
from netmend.program.source.writing import insert_after
from netmend.repair.repair import Case, Example
from netmend.vocabulary import SchedulerFact
from netmend.vocabulary.change import FileEdits

_GAMMA = {"StepLR": 2, "MultiStepLR": 2, "ExponentialLR": 1}


@register
@dataclass(frozen=True)
class ScheduleTooFast:
    """Decay the learning rate to nothing early in training.

    A schedule whose factor is far too small, or one that decays with every batch.
    """

    code: ClassVar[str] = "M108"
    causes: ClassVar[tuple[str, ...]] = ("HYP-LR-SCHED",)
    crashes: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    published: ClassVar[tuple[str, ...]] = ()

    factors: tuple[float, ...] = (0.1, 0.01)
    decays: tuple[float, ...] = (0.95, 0.8)
    steepest: float = 0.001

    def propose(self, case: Case) -> Iterator[Mutation]:
        schedulers = case.trace.all(SchedulerFact)
        for scheduler in schedulers[:1]:
            present = scheduler.settings.get("gamma")
            if scheduler.kind not in _GAMMA or not isinstance(present, int | float):
                continue
            for index, factor in enumerate(self.factors, 1):
                if factor * 2 > present:
                    continue
                edits = set_setting(case, scheduler.created, "gamma", f"{factor:g}", _GAMMA[scheduler.kind])
                yield from mutation(
                    self,
                    f"{scheduler.kind} with gamma {present:g} → {factor:g}",
                    edits,
                    grade=index / len(self.factors),
                    component=scheduler.name,
                )
        if not schedulers and len(case.trace.optimizers) == 1:
            for index, factor in enumerate(self.decays, 1):
                yield from mutation(
                    self,
                    f"the rate falls by a factor of {factor:g} with every batch",
                    _with_every_batch(case, factor),
                    grade=index / len(self.decays),
                    parameter=f"gamma {factor:g} per batch",
                )

    def knobs(self, case: Case) -> Iterator[Knob]:
        """The schedule's factor down to 0.001; where there is none, the share that the rate loses with every batch, up to 0.2."""
        schedulers = case.trace.all(SchedulerFact)
        if schedulers:
            yield from self._factor(case, schedulers[0])
        if not schedulers and len(case.trace.optimizers) == 1:
            yield from knob(
                self,
                "the rate falls with every batch",
                Scale(1e-6, 1 - self.decays[-1], 2.0, logarithmic=True),
                lambda lost: _with_every_batch(case, 1 - lost),
                told=lambda lost: f"the rate falls by a factor of {1 - lost:g} with every batch",
            )

    def _factor(self, case: Case, scheduler: SchedulerFact) -> Iterator[Knob]:
        present = scheduler.settings.get("gamma")
        if scheduler.kind not in _GAMMA or not isinstance(present, int | float) or present <= self.steepest:
            return
        place = _GAMMA[scheduler.kind]
        yield from knob(
            self,
            f"smaller factor of {scheduler.kind}",
            Scale(float(present), self.steepest, 1.5, logarithmic=True),
            lambda factor: set_setting(case, scheduler.created, "gamma", f"{factor:.3g}", place),
            component=scheduler.name,
            told=f"{scheduler.kind} with gamma {present:g} → {{}}",
        )

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example("a factor far too small", STACK, old="gamma=0.5", new="gamma=0.1"),
        Example(
            "a schedule for batches",
            LOG_PROBABILITIES,
            old="lr=0.01)\nfor epoch in range(6):\n    for rows in torch.randperm(len(x)).split(10):\n"
            "        optimizer.zero_grad()\n        loss = F.nll_loss(model(x[rows]), y[rows])\n"
            "        loss.backward()\n        optimizer.step()",
            new="lr=0.01)\nscheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)\n"
            "for epoch in range(6):\n    for rows in torch.randperm(len(x)).split(10):\n"
            "        optimizer.zero_grad()\n        loss = F.nll_loss(model(x[rows]), y[rows])\n"
            "        loss.backward()\n        optimizer.step()\n        scheduler.step()",
        ),
    )


def _with_every_batch(case: Case, factor: float) -> FileEdits:
    """Where optimiser and step stand in one function, so that the schedule is known where it is stepped."""
    optimizer = case.trace.optimizers[0]
    made, steps = case.code.call_at(optimizer.created), spots(case, "step")
    if made is None or len(steps) != 1 or not steps[0].is_alone:
        return ()
    file, call = made
    step, statement = steps[0], file.statement(call)
    name = optimizer_at(case, optimizer.name, step)
    here = step.file is file and file.function(call) is file.function(step.call)
    if statement is None or not here or not name or "scheduler" in file.text:
        return ()
    kind, extra = spelled(file, "torch.optim.lr_scheduler.ExponentialLR", like=call.func)
    return (
        *insert_after(file, statement, f"scheduler = {kind}({name}, gamma={factor:g})"),
        *insert_after(file, step.statement, "scheduler.step()"),
        *extra,
    )
