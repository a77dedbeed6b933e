from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.edits import insert_after, insert_before
from netmend.lint.engine.history import Event
from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.loops import made_in, runs_once, turns
from netmend.lint.understand.moves import alone, is_beside, optimiser_text, within
from netmend.lint.understand.roles import optimised
from netmend.lint.understand.training import Round, stepped
from netmend.lint.understand.training_steps import cleared_outside, is_replaced, one_optimiser, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
TRAINER = """\
import torch

class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.opt = torch.optim.Adam(net.parameters())

    def fit(self, epochs):
        for epoch in range(epochs):
            for x, y in self.loader:
                loss = (self.net(x) - y).square().mean()
"""
FUNCTION = "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n        loss = criterion(model(x), y)\n"


@register
class ZeroGradMissing(StaticRule):
    """The loop calls backward() and step(), and nothing in it clears the gradients.

    `backward()` adds to the gradients that are there. Without `zero_grad()` each step uses the sum of all gradients so far: steps
    grow, the loss jumps or diverges.

    Call `optimizer.zero_grad()` once per step, before `backward()`.
    """

    code = "S101"
    cause = "LOOP-ZERO-GRAD"
    message = "Gradients are never cleared in this loop; call optimizer.zero_grad() before backward()."
    triggers = (".backward(",)

    GOOD = (
        Snippet("cleared each step", HEAD + "for x, y in data:\n    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("cleared by the model", HEAD + "for x, y in data:\n    net.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("cleared in a helper", HEAD + "def update(loss):\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n\n"
                "for x, y in data:\n    update(net(x).sum())\n"),
        Snippet("cleared after the step", HEAD + "for x, y in data:\n    net(x).sum().backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"),
        Snippet("cleared parameter by parameter", HEAD + "for x, y in data:\n    net(x).sum().backward()\n    optimizer.step()\n"
                "    for p in net.parameters():\n        p.grad = None\n"),
        Snippet("a caller may clear", "def update(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"),
        Snippet("an unknown helper gets the optimizer", HEAD + "from tools import prepare\nfor x, y in data:\n    prepare(optimizer)\n"
                "    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("a new model in each round", "import torch\nfor seed in range(3):\n    net = torch.nn.Linear(4, 3)\n"
                "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    net(x).sum().backward()\n    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("missing", HEAD + "for x, y in data:\n    loss = net(x).sum()\n    loss.backward()\n    optimizer.step()\n", line=8,
                fixed=HEAD + "for x, y in data:\n    loss = net(x).sum()\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"),
        Snippet("missing in a function", FUNCTION + "        loss.backward()\n        optimizer.step()\n", line=4,
                fixed=FUNCTION + "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n"),
        Snippet("missing in a trainer", TRAINER + "                loss.backward()\n                self.opt.step()\n", line=12,
                fixed=TRAINER + "                self.opt.zero_grad()\n                loss.backward()\n                self.opt.step()\n"),
        Snippet("gradients are averaged, never cleared", HEAD + "for x, y in data:\n    net(x).sum().backward()\n    for p in net.parameters():\n        p.grad.mul_(0.5)\n"
                "    optimizer.step()\n", line=7,
                fixed=HEAD + "for x, y in data:\n    optimizer.zero_grad()\n    net(x).sum().backward()\n    for p in net.parameters():\n        p.grad.mul_(0.5)\n"
                "    optimizer.step()\n"),
        Snippet("accumulated, never cleared", HEAD + "for i, (x, y) in enumerate(data):\n    (net(x).sum() / 4).backward()\n"
                "    if i % 4 == 3:\n        optimizer.step()\n", line=7,
                fixed=HEAD + "for i, (x, y) in enumerate(data):\n    (net(x).sum() / 4).backward()\n"
                "    if i % 4 == 3:\n        optimizer.step()\n        optimizer.zero_grad()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            here = [step for step in turn.step if step.loops()[0] is turn.loop and steps_plainly(step)]
            if turn.zero or not here or runs_once(turn.loop) or any(map(is_replaced, turn.loop.events())):
                continue
            if any(self._is_new(program, step, turn) for step in here) or cleared_outside(program, turn):
                continue
            yield self.finding(program, turn.backward[-1].node, fix=self._fix(program, turn, here))

    def _is_new(self, program: Program, step: Event, turn: Round) -> bool:
        """Optimiser or model made in the loop: its gradients start empty."""
        optimiser = stepped(step)
        return any(made_in(program, made, turn.loop) for made in (optimiser, *(optimised(optimiser) or ())))

    def _fix(self, program: Program, turn: Round, steps: list[Event]) -> Fix | None:
        name = optimiser_text(program, steps[0])
        backward, step = within(program, turn.backward[-1]), alone(program, steps[0])
        if not name or backward is None or step is None or one_optimiser(turn.step) is None or len(steps) > 1:
            return None
        if len(turn.backward) == 1 and is_beside(program, backward, step):
            edits = insert_before(program, backward, f"{name}.zero_grad()")
        else:
            edits = insert_after(program, step, f"{name}.zero_grad()")
        return Fix(f"Call {name}.zero_grad()", edits, SAFE) if edits else None
