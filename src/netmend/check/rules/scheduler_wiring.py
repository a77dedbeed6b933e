"""A scheduler that never steps, or that follows something else than it should."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Body, Event, always, common_loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.loaders import evaluated
from netmend.program.meaning.loops import is_seen, turns
from netmend.program.meaning.operations import walk
from netmend.program.meaning.optimisers import handed_on, made_optimisers, steps
from netmend.program.meaning.roles import same
from netmend.program.meaning.training import (
    Round,
    is_backward,
    is_opaque,
    is_schedule,
    loss_of,
    rounds,
    stepped,
)

IDLE_HEAD = """\
import torch
from torch.optim.lr_scheduler import StepLR

def train(net, loader, epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
IDLE_LOOP = """\
    for epoch in range(epochs):
        for x in loader:
            opt.zero_grad()
            net(x).sum().backward()
            opt.step()
"""
SCRIPT = """\
import torch

net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 50)
for x in data:
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
    print(scheduler.get_last_lr())
"""
TRAINER = """\
import torch

class Job:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=1.0)
        self.plan = torch.optim.lr_scheduler.StepLR(self.opt, 5)

    def fit(self, loader):
        for x in loader:
            self.opt.zero_grad()
            self.net(x).sum().backward()
            self.opt.step()

Job(torch.nn.Linear(4, 3)).fit(loader)
"""
PASSIVE = frozenset(("get_last_lr", "get_lr", "state_dict", "print_lr", "last_epoch", "base_lrs"))


class SchedulerNeverStepped(StaticRule, code="S111", cause="HYP-LR-SCHED"):
    """A learning-rate scheduler is made for the optimiser of a training loop and never stepped.

    The rate stays at its first value: no decay, no warm-up (a warm-up schedule even leaves it at its tiny start).

    Call `scheduler.step()` once per epoch or per batch, whichever its settings count, or remove it.
    """

    message = "This scheduler is never stepped, so the learning rate never changes; call its step() in the training loop."
    triggers = ("lr_scheduler.", "LR(", "LROnPlateau(", "WarmRestarts(")

    GOOD = (
        Snippet("stepped", IDLE_HEAD + "    plan = StepLR(opt, 10)\n" + IDLE_LOOP + "        plan.step()\n"),
        Snippet("handed on", IDLE_HEAD + "    plan = StepLR(opt, 10)\n" + IDLE_LOOP + "        after_epoch(plan)\n"),
        Snippet("no training here", IDLE_HEAD + "    plan = StepLR(opt, 10)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("forgotten", IDLE_HEAD + "    plan = StepLR(opt, 10)\n" + IDLE_LOOP, line=6),
        Snippet("only shown", SCRIPT, line=5),
        Snippet("in a trainer of the script", TRAINER, line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls:
            call = event.call
            if not call.qualified.startswith("torch.optim.lr_scheduler."):
                continue
            statement = program.statement(event.node) if program.module.holds(event.node) else None
            if not isinstance(statement, ast.Assign) or statement.value is not event.node:
                continue
            name = self._name(program, event, statement)
            if not name or not self._is_idle(program, name):
                continue
            if any(self._trains(program, event, call, turn) for turn in turns(program)):
                yield self.finding(program, event.node)

    def _name(self, program: Program, made: Event, statement: ast.Assign) -> str:
        """The variable, or the attribute of an object that the program itself makes and uses."""
        target = statement.targets[0]
        if len(statement.targets) != 1:
            return ""
        if isinstance(target, ast.Attribute):
            return target.attr if program.entry_of(made).kind == "file" else ""
        return target.id if isinstance(target, ast.Name) else ""

    def _trains(self, program: Program, made: Event, call: Call, turn: Round) -> bool:
        """Does a loop behind it, always run together with it, step its optimiser?"""
        optimiser = call.argument("optimizer", 0)
        return (
            program.entry_of(turn.loop) is program.entry_of(made)
            and turn.loop.order > made.order
            and always(made, None)
            and is_seen(program, turn)
            and any(same(stepped(step), optimiser) for step in turn.step)
        )

    def _is_idle(self, program: Program, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Is a name mentioned in no way that could step it?"""
        seen |= {name}
        for node in program.nodes:
            if isinstance(node, ast.Constant) and node.value == name:
                return False
            if isinstance(node, ast.keyword) and node.arg == name and _name_of(node.value) not in seen:
                return False
            mentioned = _name_of(node)
            if mentioned == name and not isinstance(getattr(node, "ctx", None), ast.Store):
                above = program.parent(node)
                if isinstance(above, ast.Attribute) and above.attr in PASSIVE:
                    continue
                others = _other_names(program, node, above)
                if not others or not all(
                    other in seen or self._is_idle(program, other, seen) for other in others
                ):
                    return False
        return True


def _name_of(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _other_names(program: Program, node: ast.AST, above: ast.AST | None) -> list[str]:
    """The names that an object gets where it is handed on: the parameter of a function of this file, `self.name = name`."""
    if isinstance(above, ast.Assign) and above.value is node and len(above.targets) == 1:
        name = _name_of(above.targets[0])
        return [name] if name else []
    call = program.parent(above) if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or node is call.func:
        return []
    followed = [
        part
        for part in program.parts
        if isinstance(part, Body) and part.call is not None and part.call.node is call
    ]
    if not followed or any(part.function.module is not program.module for part in followed):
        return []
    if isinstance(above, ast.keyword):
        return [above.arg] if above.arg else []
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return []
    place = next(place for place, argument in enumerate(call.args) if argument is node)
    names = []
    for part in followed:
        arguments = part.function.definition.args
        positional = [*arguments.posonlyargs, *arguments.args][part.function.owner is not None :]
        if place >= len(positional):
            return []
        names.append(positional[place].arg)
    return names


OTHER_HEAD = "import torch\nfrom torch import nn\nfrom torch.optim.lr_scheduler import StepLR\n\nnet = nn.Linear(4, 2)\n"
OTHER_LOOP = "for epoch in range(9):\n    for x, y in data:\n        opt.zero_grad()\n        net(x).sum().backward()\n        opt.step()\n    scheduler.step()\n"


class SchedulerOfAnotherOptimiser(StaticRule, code="S414", cause="HYP-LR-SCHED", preview=True):
    """The scheduler was made for an optimiser that never steps, while another one does the training.

    The scheduler changes the rate of the optimiser it was given. If that one was replaced later, the rate of the optimiser in use
    stays where it was, and nothing complains.

    Make the scheduler after the optimiser that the loop steps, and give it that one.
    """

    message = "This scheduler belongs to an optimiser that never steps; create it from the optimiser that the loop uses."
    triggers = ("lr_scheduler", "LR(")

    GOOD = (
        Snippet("the same optimiser", OTHER_HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nscheduler = StepLR(opt, 3)\n" + OTHER_LOOP),
        Snippet("two of each", OTHER_HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nother = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "scheduler = StepLR(other, 3)\n" + OTHER_LOOP.replace("opt.step()\n", "opt.step()\n        other.step()\n", 1)),
        Snippet("prepared by a library", "from accelerate import Accelerator\n" + OTHER_HEAD + "first = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "scheduler = StepLR(first, 3)\nopt = Accelerator().prepare(first)\n" + OTHER_LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("optimiser replaced", OTHER_HEAD + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nscheduler = StepLR(opt, 3)\n"
                "opt = torch.optim.Adam(net.parameters())\n" + OTHER_LOOP, line=7),
        Snippet("in a function", "import torch\ndef fit(model, data):\n    adam = torch.optim.Adam(model.parameters())\n"
                "    sgd = torch.optim.SGD(model.parameters(), lr=0.1)\n    schedule = torch.optim.lr_scheduler.ExponentialLR(adam, 0.9)\n"
                "    for x in data:\n        sgd.zero_grad()\n        model(x).mean().backward()\n        sgd.step()\n        schedule.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = {id(made.call) for made in made_optimisers(program)}
        stepping = steps(program)
        if len(known) < 2 or any(id(value) not in known for _, value in stepping):
            return
        seen: set[int] = set()
        for event in program.methods_of("step"):
            call = event.call
            scheduler = resolved(call.receiver)
            if not is_schedule(event) or not isinstance(scheduler, Call) or id(scheduler) in seen:
                continue
            optimiser = _optimiser(scheduler)
            if optimiser is None or id(optimiser) not in known:
                continue
            if any(value is optimiser for _, value in stepping):
                continue
            used = next((step for step, _ in stepping if common_loop(step, event) is not None), None)
            if used is None or handed_on(program, optimiser)[1:]:
                continue
            loop = common_loop(used, event)
            if loop is None or any(
                is_opaque(inner) and not is_backward(inner) for inner in loop.body.events()
            ):
                continue
            seen.add(id(scheduler))
            yield self.finding(
                program, scheduler.node, see=[("The loop steps another optimiser here.", used.node)]
            )


def _optimiser(scheduler: Call) -> Call | None:
    given: Value | None = scheduler.argument("optimizer", 0)
    found = resolved(given)
    return found if isinstance(found, Call) else None


PLATEAU_HEAD = f"""{TORCH}\
from torch.optim.lr_scheduler import ReduceLROnPlateau

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = ReduceLROnPlateau(opt)
for epoch in range(9):
    total = 0.0
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    val = 0.0
    with torch.no_grad():
        for x, y in val_loader:
            val += nn.functional.cross_entropy(net(x), y).item()
"""
LOADERS = "from torch.utils.data import DataLoader\ntrain_loader, val_loader = DataLoader(a, shuffle=True), DataLoader(b)\n"


class PlateauOnTrainingLoss(StaticRule, code="S611", cause="HYP-LR-SCHED", advisory=True):
    """The rate is lowered by `ReduceLROnPlateau` when the training loss stalls, although a validation loss is computed.

    The training loss goes on falling while the network overfits, so the rate is lowered too late or never.

    Pass the validation loss: `scheduler.step(val_loss)`.
    """

    message = "This scheduler watches the training loss; pass the validation loss."
    triggers = ("ReduceLROnPlateau",)

    GOOD = (
        Snippet("validation loss", LOADERS + PLATEAU_HEAD + "    schedule.step(val)\n"),
        Snippet(
            "nothing else is known",
            LOADERS + PLATEAU_HEAD.partition("    val = 0.0")[0] + "    schedule.step(total)\n",
        ),
    )
    BAD = (
        Snippet("sum of the epoch", LOADERS + PLATEAU_HEAD + "    schedule.step(total)\n", line=22),
        Snippet("the last batch", LOADERS + PLATEAU_HEAD + "    schedule.step(loss)\n", line=22),
    )

    def check(self, program: Program) -> Findings:
        losses = {
            id(resolved(loss))
            for turn in rounds(program)
            for event in turn.backward
            if (loss := loss_of(event)) is not None
        }
        if not losses or not evaluated(program):
            return
        for event in program.methods_of("step"):
            call = event.call
            made = resolved(call.receiver)
            if not isinstance(made, Call) or not call.args:
                continue
            is_plateau = made.qualified == "torch.optim.lr_scheduler.ReduceLROnPlateau"
            if is_plateau and any(id(resolved(part)) in losses for part in walk(call.args[0])):
                yield self.finding(program, event.node)
