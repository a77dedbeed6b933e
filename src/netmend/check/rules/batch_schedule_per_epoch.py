from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Operation, Value, resolved
from netmend.program.meaning.loops import bound_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.options_given import is_same_number
from netmend.program.meaning.schedules import ScheduleStep, schedule_steps, steps_in
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch.optim import lr_scheduler

def train(net, loader, epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """\
    for epoch in range(epochs):
        for x in loader:
            opt.zero_grad()
            net(x).sum().backward()
            opt.step()
"""
CYCLE = "    plan = lr_scheduler.OneCycleLR(opt, 0.5, steps_per_epoch=len(loader), epochs=epochs)\n"
TOTALS = ("total_steps", "T_max", "total_iters", "num_training_steps")


@register
class BatchSchedulePerEpoch(StaticRule):
    """A schedule whose length is given in batches is stepped once per epoch.

    It gets only a small part of its way: a one-cycle schedule stays in its warm-up, a decay that was planned over all batches
    never comes.

    Step it at each batch, after `optimizer.step()`, or give its length in epochs.
    """

    code = "S110"
    cause = "HYP-LR-SCHED"
    message = "This schedule counts batches but is stepped once per epoch; step it inside the batch loop, after optimizer.step()."
    triggers = ("OneCycleLR", "CosineAnnealingLR", "LinearLR", "PolynomialLR", "_schedule_with_warmup")

    GOOD = (
        Snippet("one cycle per batch", HEAD + CYCLE + LOOP + "            plan.step()\n"),
        Snippet("one cycle counted in epochs", HEAD + "    plan = lr_scheduler.OneCycleLR(opt, 0.5, total_steps=epochs)\n" + LOOP + "        plan.step()\n"),
        Snippet("cosine counted in epochs", HEAD + "    plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)\n" + LOOP + "        plan.step()\n"),
        Snippet("one step per epoch", HEAD + CYCLE + "    for epoch in range(epochs):\n        for x in loader:\n            net(x).sum().backward()\n"
                "        opt.step()\n        opt.zero_grad()\n        plan.step()\n"),
        Snippet("one batch per epoch", HEAD + "    plan = lr_scheduler.OneCycleLR(opt, 0.5, steps_per_epoch=1, epochs=epochs)\n" + LOOP + "        plan.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one cycle per epoch", HEAD + CYCLE + LOOP + "        plan.step()\n", line=12),
        Snippet("cosine over all batches", HEAD + "    plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * len(loader))\n" + LOOP + "        plan.step()\n", line=12),
        Snippet("warm-up of transformers", HEAD + "    from transformers import get_linear_schedule_with_warmup\n    total = len(loader) * epochs\n"
                "    plan = get_linear_schedule_with_warmup(opt, 100, total)\n" + LOOP + "        plan.step()\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for schedule in schedule_steps(program):
            loop = schedule.loop
            if loop is None or schedule.made is None or not self._counts_batches(program, schedule, loop):
                continue
            steps = steps_in(loop, schedule)
            if steps and all(self._is_deeper(step.loops(), loop) for step in steps):
                yield self.finding(program, schedule.event.node)

    def _is_deeper(self, loops: tuple[Loop, ...], loop: Loop) -> bool:
        return loop in loops and loops[0] is not loop

    def _counts_batches(self, program: Program, schedule: ScheduleStep, epochs: Loop) -> bool:
        per_epoch = schedule.option("steps_per_epoch") if schedule.kind == "OneCycleLR" else None
        if per_epoch is not None:
            return not isinstance(resolved(per_epoch), Const) and any(map(_is_length, walk(per_epoch)))
        for name in TOTALS:
            total = schedule.option(name)
            if total is not None and any(_is_length(part) for part in walk(total)):
                return any(
                    isinstance(part, Operation)
                    and part.operator == "*"
                    and any(is_same_number(program, operand, bound_of(epochs)) for operand in part.operands)
                    for part in walk(total)
                )
        return False


def _is_length(value: Value) -> bool:
    return isinstance(value, Call) and value.qualified == "len"
