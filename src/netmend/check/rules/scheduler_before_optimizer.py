from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, always
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import is_seen_loop
from netmend.program.meaning.moves import alone, is_beside, moved_after
from netmend.program.meaning.schedules import ScheduleStep, schedule_steps, steps_in
from netmend.program.meaning.training import is_step
from netmend.program.meaning.training_steps import one_optimiser
from netmend.vocabulary.finding import UNSAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, step_size=1000)
"""
LOOP = "for x in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n"
FUNCTION = """\
def train(model, loader, optimizer, scheduler, epochs):
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
"""


@register
class SchedulerBeforeOptimizer(StaticRule):
    """scheduler.step() comes before optimizer.step() in the loop.

    The schedule moves on before the first rate was used: that value is skipped, warm-up and all milestones come one step early.
    PyTorch warns of it once, at run time, where it is easily lost among other lines.

    Call `scheduler.step()` after `optimizer.step()`: per batch directly behind it, per epoch behind the batch loop.
    """

    code = "S108"
    cause = "LOOP-SCHED-ORDER"
    message = "The scheduler is stepped before the optimizer, which skips the first learning rate; call scheduler.step() after optimizer.step()."
    triggers = ("cheduler", "LR(")

    GOOD = (
        Snippet("after the step", HEAD + LOOP + "    opt.step()\n    plan.step()\n"),
        Snippet("behind the batch loop", FUNCTION + "            optimizer.step()\n        scheduler.step()\n"),
        Snippet("plateau with a metric", HEAD + "plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)\n" + "for epoch in range(9):\n    plan.step(evaluate())\n    for x in data:\n"
                "        opt.zero_grad()\n        net(x).sum().backward()\n        opt.step()\n"),
        Snippet("not in the first epoch", HEAD + "for epoch in range(9):\n    if epoch:\n        plan.step()\n    for x in data:\n        opt.zero_grad()\n"
                "        net(x).sum().backward()\n        opt.step()\n"),
        Snippet("the schedule of another optimiser", HEAD + "other = torch.optim.SGD(head.parameters(), lr=1.0)\nlate = torch.optim.lr_scheduler.StepLR(other, 5)\n"
                "for x in data:\n    other.step()\n    late.step()\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n    plan.step()\n"),
        Snippet("a schedule of one's own", "class Warmup:\n    def step(self):\n        pass\n\ndef train(model, loader, opt):\n    warm = Warmup()\n    for x in loader:\n"
                "        warm.step()\n        opt.zero_grad()\n        model(x).sum().backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("swapped", HEAD + LOOP + "    plan.step()\n    opt.step()\n", line=10, fixed=HEAD + LOOP + "    opt.step()\n    plan.step()\n"),
        Snippet("swapped in a function", FUNCTION + "            scheduler.step()\n            optimizer.step()\n", line=6,
                fixed=FUNCTION + "            optimizer.step()\n            scheduler.step()\n"),
        Snippet("at the start of the epoch", HEAD + "for epoch in range(9):\n    plan.step()\n    for x in data:\n        opt.zero_grad()\n"
                "        net(x).sum().backward()\n        opt.step()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for schedule in schedule_steps(program):
            call, loop = schedule.event.call, schedule.loop
            if (
                call is None
                or loop is None
                or call.args
                or call.keywords
                or schedule.kind == "ReduceLROnPlateau"
            ):
                continue
            steps = tuple(steps_in(loop, schedule))
            if not steps or not always(schedule.event, loop) or not is_seen_loop(program, loop):
                continue
            if one_optimiser(steps) is None or not all(always(step, loop) for step in steps):
                continue
            if steps[0].order < schedule.event.order or self._stepped_before(program, schedule):
                continue
            if schedule.made is not None or steps[0].loops()[0] is loop:
                yield self.finding(
                    program, schedule.event.node, fix=self._fix(program, schedule.event, steps)
                )

    def _stepped_before(self, program: Program, schedule: ScheduleStep) -> bool:
        """A step ahead of the loop: the first rate was used there."""
        events = program.entry_of(schedule.event).block.events()
        return any(is_step(event) and event.order < schedule.event.order for event in events)

    def _fix(self, program: Program, schedule: Event, steps: tuple[Event, ...]) -> Fix | None:
        statement, place = alone(program, schedule), alone(program, steps[-1])
        if statement is None or place is None or not is_beside(program, statement, place):
            return None
        edits = moved_after(program, statement, place)
        return Fix("Step the scheduler after the optimizer", edits, UNSAFE) if edits else None
