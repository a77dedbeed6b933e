from __future__ import annotations

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.loops import is_seen_loop, made_in, runs_once, turns
from netmend.program.meaning.optimisers import updated_by_hand
from netmend.program.meaning.roles import OPTIMISER, optimised, role, same
from netmend.program.meaning.statements import alone, is_beside, optimiser_text, within
from netmend.program.meaning.training import (
    Round,
    backward_calls,
    cleared_outside,
    is_replaced,
    look_at,
    one_optimiser,
    stepped,
    steps_plainly,
)
from netmend.program.text.edits import insert_after, insert_before
from netmend.vocabulary.finding import SAFE, Fix

HEAD = f"""{TORCH}
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
CHOICE = f"""{TORCH}
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x)

class Large(Small):
    pass

if kind == "small":
    net = Small()
elif kind == "large":
    net = Large()
else:
    raise ValueError(kind)
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


class ZeroGradMissing(StaticRule, code="S101", cause="LOOP-ZERO-GRAD"):
    """The loop calls backward() and step(), and nothing in it clears the gradients.

    `backward()` adds to the gradients that are there. Without `zero_grad()` each step uses the sum of all gradients so far: steps
    grow, the loss jumps or diverges.

    Call `optimizer.zero_grad()` once per step, before `backward()`. Weights that are changed by hand (`w -= lr * w.grad`) need
    `w.grad = None` or `w.grad.zero_()`; with several optimisers each one clears its own.
    """

    message = "Gradients are never cleared in this loop; call optimizer.zero_grad() before backward()."
    triggers = (".backward(",)

    GOOD = (
        Snippet("cleared each step", HEAD + "for x, y in data:\n    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("cleared parameter by parameter", HEAD + "for x, y in data:\n    net(x).sum().backward()\n    optimizer.step()\n"
                "    for p in net.parameters():\n        p.grad = None\n"),
        Snippet("cleared all at once", HEAD + "for x, y in data:\n    net(x).sum().backward()\n    optimizer.step()\n    torch._foreach_zero_([p.grad for p in net.parameters()])\n"),
        Snippet("a caller may clear", "def update(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"),
        Snippet("an unknown helper gets the optimizer", HEAD + "from tools import prepare\nfor x, y in data:\n    prepare(optimizer)\n"
                "    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("by hand, cleared", "import torch\nw = torch.zeros(3, requires_grad=True)\nfor x, y in data:\n    (x @ w - y).square().mean().backward()\n"
                "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad.zero_()\n"),
        Snippet("by hand, made anew", "import torch\nw = torch.zeros(3, requires_grad=True)\nfor x, y in data:\n    (x @ w - y).square().mean().backward()\n"
                "    w = (w - 0.1 * w.grad).detach().requires_grad_()\n"),
        Snippet("one of several models", CHOICE + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in data:\n"
                "    loss = net(x).sum()\n    net.zero_grad(set_to_none=True)\n    loss.backward()\n    optimizer.step()\n"),
        Snippet("one of several models and optimisers", CHOICE + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1) if sgd else torch.optim.Adam(net.parameters())\n"
                "for x, y in data:\n    net.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"),
        Snippet("a new model in each round", "import torch\nfor seed in range(3):\n    net = torch.nn.Linear(4, 3)\n"
                "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    net(x).sum().backward()\n    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        mended("missing", HEAD + "for x, y in data:\n    loss = net(x).sum()\n    + optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n", line=8),
        mended("missing for one of several models", CHOICE + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in data:\n    loss = net(x).sum()\n    + optimizer.zero_grad()\n"
                "    loss.backward()\n    optimizer.step()\n", line=24),
        mended("missing in a function", FUNCTION + "        + optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n", line=4),
        mended("missing in a trainer", TRAINER + "                + self.opt.zero_grad()\n                loss.backward()\n                self.opt.step()\n", line=12),
        mended("gradients are averaged, never cleared", HEAD + "for x, y in data:\n    + optimizer.zero_grad()\n    net(x).sum().backward()\n    for p in net.parameters():\n"
                "        p.grad.mul_(0.5)\n    optimizer.step()\n", line=7),
        Snippet("by hand", "import torch\nw = torch.zeros(3, requires_grad=True)\nfor x, y in data:\n    loss = (x @ w - y).square().mean()\n    loss.backward()\n"
                "    with torch.no_grad():\n        w -= 0.1 * w.grad\n", line=5),
        Snippet("by hand, for all weights", "import torch\n\ndef fit(model, data, rate):\n    for x, y in data:\n        (model(x) - y).square().mean().backward()\n"
                "        for p in model.parameters():\n            p.data.sub_(rate * p.grad.data)\n", line=5),
        Snippet("another optimiser clears", HEAD + "top = nn.Linear(3, 1)\nother = torch.optim.Adam(top.parameters())\nfor x, y in data:\n    other.zero_grad()\n"
                "    top(net(x)).sum().backward()\n    optimizer.step()\n    other.step()\n", line=11),
        mended("accumulated, never cleared", HEAD + "for i, (x, y) in enumerate(data):\n    (net(x).sum() / 4).backward()\n    if i % 4 == 3:\n        optimizer.step()\n"
                "        + optimizer.zero_grad()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for turn in turns(program):
            here = [step for step in turn.step if step.loops()[0] is turn.loop and steps_plainly(step)]
            if turn.zero and here:
                yield from self._others_cleared(program, turn, here)
            if turn.zero or not here or runs_once(turn.loop) or any(map(is_replaced, turn.loop.events())):
                continue
            if any(self._is_new(program, step, turn) for step in here) or cleared_outside(program, turn):
                continue
            yield self.finding(program, turn.backward[-1].node, fix=self._fix(program, turn, here))

        yield from self._by_hand(program)

    def _others_cleared(self, program: Program, turn: Round, steps: list[CallEvent]) -> Findings:
        """Every clearing in the loop is for the weights of another optimiser."""
        for step in steps:
            owners = optimised(stepped(step))
            if not owners or self._is_new(program, step, turn) or cleared_outside(program, turn):
                continue
            cleared = [_cleared(event) for event in turn.zero]
            if all(
                models is not None and not any(same(a, b) for a in models for b in owners)
                for models in cleared
            ):
                name = optimiser_text(program, step) or "This optimiser"
                text = f"{name} steps here, but only other gradients are cleared in the loop; call zero_grad() for it too."
                yield self.finding(program, step.node, text)

    def _by_hand(self, program: Program) -> Findings:
        """`w -= rate * w.grad` in the loop around backward, and nothing clears `w.grad`."""
        seen: set[int] = set()
        for backward in backward_calls(program):
            loop = backward.loop
            if loop is None or id(loop) in seen or not is_seen_loop(program, loop) or runs_once(loop):
                continue
            seen.add(id(loop))
            turn = look_at(loop)
            if turn.step or turn.zero or turn.opaque or cleared_outside(program, turn):
                continue
            changed = [updated_by_hand(event) for event in loop.events()]
            if any(value is not None and not made_in(program, value, loop) for value in changed):
                text = "Gradients are never cleared in this loop; set each weight's grad to None after the update."
                yield self.finding(program, backward.node, text)

    def _is_new(self, program: Program, step: Event, turn: Round) -> bool:
        """Optimiser or model made in the loop: its gradients start empty."""
        optimiser = stepped(step)
        return any(made_in(program, made, turn.loop) for made in (optimiser, *(optimised(optimiser) or ())))

    def _fix(self, program: Program, turn: Round, steps: list[CallEvent]) -> Fix | None:
        name = optimiser_text(program, steps[0])
        backward, step = within(program, turn.backward[-1]), alone(program, steps[0])
        if not name or backward is None or step is None or one_optimiser(turn.step) is None or len(steps) > 1:
            return None
        if len(turn.backward) == 1 and is_beside(program, backward, step):
            edits = insert_before(program, backward, f"{name}.zero_grad()")
        else:
            edits = insert_after(program, step, f"{name}.zero_grad()")
        return Fix(f"Call {name}.zero_grad()", edits, SAFE)


def _cleared(event: Event) -> tuple[Value, ...] | None:
    """The models whose gradients an optimiser's `zero_grad()` clears; None when that cannot be told."""
    receiver = event.call.receiver if event.call is not None and event.call.method == "zero_grad" else None
    if receiver is None or role(receiver) != OPTIMISER or not isinstance(resolved(receiver), Call):
        return None
    return optimised(receiver)
