from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Loop, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, resolved
from netmend.program.meaning.loops import bound_of, is_over_epochs, is_over_loader
from netmend.program.meaning.operations import walk
from netmend.program.meaning.options_given import description, is_same_number, number
from netmend.program.meaning.schedules import ScheduleStep, schedule_steps, steps_in
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.optim import lr_scheduler

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """\
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


@register
class EpochSchedulePerBatch(StaticRule):
    """A schedule that counts epochs is stepped inside the batch loop.

    It then runs through its whole plan within the first epochs: the learning rate is almost zero long before training has got
    anywhere (or, with cosine annealing, swings up and down with every few batches).

    Step it once per epoch, behind the batch loop, or give its settings in batches.
    """

    code = "S109"
    cause = "HYP-LR-SCHED"
    message = "This schedule counts epochs but is stepped at each batch; step it once per epoch, after the batch loop."
    triggers = ("lr_scheduler", "StepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau")

    GOOD = (
        Snippet("once per epoch", HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10)\n" + LOOP + "    plan.step()\n"),
        Snippet("cosine over all batches", HEAD + "plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * len(loader))\n" + LOOP + "        plan.step()\n"),
        Snippet("steps counted in batches", HEAD + "plan = lr_scheduler.StepLR(opt, step_size=5000, gamma=0.5)\n" + LOOP + "        plan.step()\n"),
        Snippet("gentle decay per batch", HEAD + "plan = lr_scheduler.ExponentialLR(opt, gamma=0.9995)\n" + LOOP + "        plan.step()\n"),
        Snippet("at the last batch", HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10)\n" + LOOP + "        if is_last(x):\n            plan.step()\n"),
        Snippet("a loop over steps only", HEAD + "plan = lr_scheduler.ExponentialLR(opt, gamma=0.9)\nfor step in range(50):\n    opt.zero_grad()\n    net(x).sum().backward()\n"
                "    opt.step()\n    plan.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("StepLR", HEAD + "plan = lr_scheduler.StepLR(opt, step_size=10, gamma=0.1)\n" + LOOP + "        plan.step()\n", line=13),
        Snippet("cosine over epochs", HEAD + "plan = lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)\n".replace("epochs", "30") + LOOP.replace("epochs", "30")
                + "        plan.step()\n", line=13),
        Snippet("milestones", HEAD + "plan = lr_scheduler.MultiStepLR(opt, [30, 60, 80])\n" + LOOP + "        plan.step()\n", line=13),
        Snippet("plateau, in a function", "import torch\n\ndef train(net, loader, epochs):\n    opt = torch.optim.Adam(net.parameters())\n"
                "    plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=3)\n    for epoch in range(epochs):\n        for x in loader:\n            loss = net(x).sum()\n"
                "            opt.zero_grad()\n            loss.backward()\n            opt.step()\n            plan.step(loss)\n", line=12),
        Snippet("an option in epochs", OPTIONS + HEAD + "plan = lr_scheduler.StepLR(opt, args.decay_every)\n" + LOOP.replace("epochs", "args.epochs") + "        plan.step()\n", line=18),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
        milestones = resolved(given) if given is not None else None
        if not isinstance(milestones, Collection) or milestones.open or not milestones.items:
            return False
        if any(isinstance(part, Call) for part in walk(milestones)):
            return False
        values = [getattr(resolved(item), "value", None) for item in milestones.items]
        return all(isinstance(value, int | float) and value <= limit for value in values)
