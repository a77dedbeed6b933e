"""A scheduler steps at the wrong moment or in the wrong rhythm."""

from __future__ import annotations

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import Event, Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Operation, Value, resolved
from netmend.program.meaning.loops import bound_of, is_over_epochs, is_over_loader, is_seen_loop
from netmend.program.meaning.operations import walk
from netmend.program.meaning.optimisers import ScheduleStep, schedule_steps, steps_in
from netmend.program.meaning.settings import description, is_same_number, number
from netmend.program.meaning.statements import alone, is_beside, moved_after
from netmend.program.meaning.training import is_step, one_optimiser
from netmend.vocabulary.finding import UNSAFE, Fix

ORDER_HEAD = f"""{TORCH}
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, step_size=1000)
"""
ORDER_LOOP = "for x in data:\n    opt.zero_grad()\n    net(x).sum().backward()\n"
FUNCTION = """\
def train(model, loader, optimizer, scheduler, epochs):
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
"""


class SchedulerBeforeOptimizer(StaticRule, code="S108", cause="LOOP-SCHED-ORDER"):
    """scheduler.step() comes before optimizer.step() in the loop.

    The schedule moves on before the first rate was used: that value is skipped, warm-up and all milestones come one step early.
    PyTorch warns of it once, at run time, where it is easily lost among other lines.

    Call `scheduler.step()` after `optimizer.step()`: per batch directly behind it, per epoch behind the batch loop.
    """

    message = "The scheduler is stepped before the optimizer, which skips the first learning rate; call scheduler.step() after optimizer.step()."
    triggers = ("cheduler", "LR(")

    GOOD = (
        Snippet("after the step", ORDER_HEAD + ORDER_LOOP + "    opt.step()\n    plan.step()\n"),
        Snippet("plateau with a metric", ORDER_HEAD + "plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)\n" + "for epoch in range(9):\n    plan.step(evaluate())\n    for x in data:\n"
                "        opt.zero_grad()\n        net(x).sum().backward()\n        opt.step()\n"),
        Snippet("not in the first epoch", ORDER_HEAD + "for epoch in range(9):\n    if epoch:\n        plan.step()\n    for x in data:\n        opt.zero_grad()\n"
                "        net(x).sum().backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("swapped", ORDER_HEAD + ORDER_LOOP + "    + opt.step()\n    plan.step()\n    - opt.step()\n", line=10),
        mended("swapped in a function", FUNCTION + "            + optimizer.step()\n            scheduler.step()\n            - optimizer.step()\n", line=6),
        Snippet("at the start of the epoch", ORDER_HEAD + "for epoch in range(9):\n    plan.step()\n    for x in data:\n        opt.zero_grad()\n"
                "        net(x).sum().backward()\n        opt.step()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for schedule in schedule_steps(program):
            call, loop = schedule.event.call, schedule.loop
            if call is None or loop is None or call.args or call.keywords:
                continue
            if schedule.kind == "ReduceLROnPlateau":
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
        return Fix("Step the scheduler after the optimizer", moved_after(program, statement, place), UNSAFE)


EPOCH_HEAD = f"""{TORCH}\
from torch.optim import lr_scheduler

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
EPOCH_LOOP = """\
for epoch in range(epochs):
    for x in loader:
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
"""
OPTIONS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=24)
parser.add_argument("--decay-every", type=int, default=80, help="epochs between decays")
args = parser.parse_args()
"""
SHRINK_LIMIT = 0.5  # a factor that a rate survives only a few times
STEADY_GAMMA = 0.97  # below it a rate falls to a twentieth within a hundred batches
FEW_ROUNDS = 30  # hardly an epoch's worth of batches
EARLY_MILESTONE = 100
SHORT_PATIENCE = 20  # PyTorch's default is 10, meant for epochs


class EpochSchedulePerBatch(StaticRule, code="S109", cause="HYP-LR-SCHED"):
    """A schedule that counts epochs is stepped inside the batch loop.

    It then runs through its whole plan within the first epochs: the learning rate is almost zero long before training has got
    anywhere (or, with cosine annealing, swings up and down with every few batches).

    Step it once per epoch, behind the batch loop, or give its settings in batches.
    """

    message = "This schedule counts epochs but is stepped at each batch; step it once per epoch, after the batch loop."
    triggers = ("lr_scheduler", "StepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau")

    GOOD = (
        Snippet("once per epoch", EPOCH_HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10)\n" + EPOCH_LOOP + "    plan.step()\n"),
        Snippet("cosine over all batches", EPOCH_HEAD + "plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * len(loader))\n" + EPOCH_LOOP + "        plan.step()\n"),
        Snippet("steps counted in batches", EPOCH_HEAD + "plan = lr_scheduler.StepLR(opt, step_size=5000, gamma=0.5)\n" + EPOCH_LOOP + "        plan.step()\n"),
        Snippet("gentle decay per batch", EPOCH_HEAD + "plan = lr_scheduler.ExponentialLR(opt, gamma=0.9995)\n" + EPOCH_LOOP + "        plan.step()\n"),
        Snippet("at the last batch", EPOCH_HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10)\n" + EPOCH_LOOP + "        if is_last(x):\n            plan.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("StepLR", EPOCH_HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10, gamma=0.1)\n" + EPOCH_LOOP + "        plan.step()\n", line=13),
        Snippet("cosine over epochs", EPOCH_HEAD + "plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)\n".replace("epochs", "30") + EPOCH_LOOP.replace("epochs", "30")
                + "        plan.step()\n", line=13),
        Snippet("milestones", EPOCH_HEAD + "plan = lr_scheduler.MultiStepLR(opt, [30, 60, 80])\n" + EPOCH_LOOP + "        plan.step()\n", line=13),
        Snippet("plateau, in a function", "import torch\n\ndef train(net, loader, epochs):\n    opt = torch.optim.Adam(net.parameters())\n"
                "    plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=3)\n    for epoch in range(epochs):\n        for x in loader:\n            loss = net(x).sum()\n"
                "            opt.zero_grad()\n            loss.backward()\n            opt.step()\n            plan.step(loss)\n", line=12),
        Snippet("an option in epochs", OPTIONS + EPOCH_HEAD + "plan = lr_scheduler.StepLR(opt, args.decay_every)\n" + EPOCH_LOOP.replace("epochs", "args.epochs") + "        plan.step()\n", line=18),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for schedule in schedule_steps(program):
            loops = schedule.event.loops()
            if len(loops) < 2 or schedule.made is None or not always(schedule.event, loops[0]):
                continue
            batches, epochs = loops[0], loops[1]
            if is_over_epochs(batches) or not (is_over_epochs(epochs) or is_over_loader(batches)):
                continue
            is_stepped_with = any(step.loops()[0] is batches for step in steps_in(batches, schedule))
            if is_stepped_with and self._counts_epochs(program, schedule, batches, epochs):
                yield self.finding(program, schedule.event.node)

    def _counts_epochs(self, program: Program, schedule: ScheduleStep, batches: Loop, epochs: Loop) -> bool:
        """Is it proven, by its settings, that the schedule is meant for epochs?"""
        rounds = number(program, bound_of(epochs)) or 0.0
        gamma = number(program, schedule.option("gamma")) if schedule.option("gamma") is not None else 0.1
        if schedule.kind == "CosineAnnealingLR":
            return is_same_number(program, schedule.option("T_max"), bound_of(epochs))
        if schedule.kind == "ExponentialLR":
            return gamma is not None and gamma <= STEADY_GAMMA
        if schedule.kind == "ReduceLROnPlateau":
            patience = schedule.option("patience")
            limit = number(program, patience) if patience is not None else 10.0
            return limit is not None and limit <= SHORT_PATIENCE and is_over_loader(batches)
        if gamma is None or gamma > SHRINK_LIMIT:
            return False
        if schedule.kind == "StepLR":
            size = schedule.option("step_size")
            every = number(program, size)
            return "epoch" in description(program, size) or (
                every is not None and 0 < every <= max(FEW_ROUNDS, rounds)
            )
        if schedule.kind == "MultiStepLR":
            return self._is_early(schedule, max(EARLY_MILESTONE, rounds))
        return False

    def _is_early(self, schedule: ScheduleStep, limit: float) -> bool:
        given = schedule.option("milestones")
        milestones = resolved(given)
        if not isinstance(milestones, Collection) or milestones.open or not milestones.items:
            return False
        if any(isinstance(part, Call) for part in walk(milestones)):
            return False
        values = [getattr(resolved(item), "value", None) for item in milestones.items]
        return all(isinstance(value, int | float) and value <= limit for value in values)


BATCH_HEAD = """\
import torch
from torch.optim import lr_scheduler

def train(net, loader, epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
BATCH_LOOP = """\
    for epoch in range(epochs):
        for x in loader:
            opt.zero_grad()
            net(x).sum().backward()
            opt.step()
"""
CYCLE = "    plan = lr_scheduler.OneCycleLR(opt, 0.5, steps_per_epoch=len(loader), epochs=epochs)\n"
TOTALS = ("total_steps", "T_max", "total_iters", "num_training_steps")


class BatchSchedulePerEpoch(StaticRule, code="S110", cause="HYP-LR-SCHED"):
    """A schedule whose length is given in batches is stepped once per epoch.

    It gets only a small part of its way: a one-cycle schedule stays in its warm-up, a decay that was planned over all batches
    never comes.

    Step it at each batch, after `optimizer.step()`, or give its length in epochs.
    """

    message = "This schedule counts batches but is stepped once per epoch; step it inside the batch loop, after optimizer.step()."
    triggers = ("OneCycleLR", "CosineAnnealingLR", "LinearLR", "PolynomialLR", "_schedule_with_warmup")

    GOOD = (
        Snippet("one cycle per batch", BATCH_HEAD + CYCLE + BATCH_LOOP + "            plan.step()\n"),
        Snippet("cosine counted in epochs", BATCH_HEAD + "    plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)\n" + BATCH_LOOP + "        plan.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("one cycle per epoch", BATCH_HEAD + CYCLE + BATCH_LOOP + "        plan.step()\n", line=12),
        Snippet("cosine over all batches", BATCH_HEAD + "    plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * len(loader))\n" + BATCH_LOOP + "        plan.step()\n", line=12),
        Snippet("warm-up of transformers", BATCH_HEAD + "    from transformers import get_linear_schedule_with_warmup\n    total = len(loader) * epochs\n"
                "    plan = get_linear_schedule_with_warmup(opt, 100, total)\n" + BATCH_LOOP + "        plan.step()\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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
