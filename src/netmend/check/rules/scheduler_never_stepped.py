from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Body, Event, always
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call
from netmend.program.meaning.loops import is_seen, turns
from netmend.program.meaning.roles import same
from netmend.program.meaning.training import Round, stepped
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch.optim.lr_scheduler import StepLR

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


@register
class SchedulerNeverStepped(StaticRule):
    """A learning-rate scheduler is made for the optimiser of a training loop and never stepped.

    The rate stays at its first value: no decay, no warm-up (a warm-up schedule even leaves it at its tiny start).

    Call `scheduler.step()` once per epoch or per batch, whichever its settings count, or remove it.
    """

    code = "S111"
    cause = "HYP-LR-SCHED"
    message = "This scheduler is never stepped, so the learning rate never changes; call its step() in the training loop."
    triggers = ("lr_scheduler.", "LR(", "LROnPlateau(", "WarmRestarts(")

    GOOD = (
        Snippet("stepped", HEAD + "    plan = StepLR(opt, 10)\n" + LOOP + "        plan.step()\n"),
        Snippet("handed on", HEAD + "    plan = StepLR(opt, 10)\n" + LOOP + "        after_epoch(plan)\n"),
        Snippet("part of another", HEAD + "    first = StepLR(opt, 10)\n    plan = torch.optim.lr_scheduler.ChainedScheduler([first])\n" + LOOP + "        plan.step()\n"),
        Snippet("returned", HEAD + "    plan = StepLR(opt, 10)\n" + LOOP + "    return plan\n"),
        Snippet("no training here", HEAD + "    plan = StepLR(opt, 10)\n"),
        Snippet("stepped by a function", HEAD + "    plan = StepLR(opt, 10)\n    def on_end():\n        plan.step()\n" + LOOP + "    run(on_end)\n"),
        Snippet("kept for others", "import torch\n\nclass Job:\n    def __init__(self, net):\n        self.opt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
                "        self.plan = torch.optim.lr_scheduler.StepLR(self.opt, 5)\n\n    def fit(self, net, loader):\n        for x in loader:\n            self.opt.zero_grad()\n"
                "            net(x).sum().backward()\n            self.opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("forgotten", HEAD + "    plan = StepLR(opt, 10)\n" + LOOP, line=6),
        Snippet("only shown", SCRIPT, line=5),
        Snippet("in a trainer of the script", TRAINER, line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in program.calls:
            call = event.call
            if call is None or not call.qualified.startswith("torch.optim.lr_scheduler."):
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
        for node in ast.walk(program.tree):
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
