from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import always
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import turns
from netmend.program.meaning.moves import alone, is_beside, moved_after
from netmend.program.meaning.training import Round, is_backward
from netmend.program.meaning.training_steps import is_replaced, one_optimiser, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
"""
LOOP = "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
FUNCTION = "def train(model, loader, optimizer, loss_fn):\n    for x, y in loader:\n"
GAN = """\
def train(g, d, opt_g, opt_d, loader):
    for real in loader:
        opt_d.zero_grad()
        d(real).mean().backward()
        opt_d.step()
        opt_g.zero_grad()
        d(g(noise)).mean().backward()
        opt_g.step()
"""


@register
class StepBeforeBackward(StaticRule):
    """step() comes before backward() in each round of the loop.

    The step finds no gradients, or those of the previous batch: with `zero_grad()` in between nothing is learnt at all, otherwise
    every update is one batch late and the last one is lost.

    Order: `zero_grad()`, forward, loss, `backward()`, `step()`.
    """

    code = "S105"
    cause = "LOOP-STEP"
    message = (
        "step() runs before backward() has computed this iteration's gradients; call it after backward()."
    )
    triggers = (".backward(",)

    GOOD = (
        Snippet("in order", HEAD + LOOP + "    loss.backward()\n    opt.step()\n"),
        Snippet("two optimisers", GAN),
        Snippet("gradients of the first round are computed before", HEAD + "F.mse_loss(net(x), y).backward()\n" + "for x, y in data:\n    opt.step()\n    opt.zero_grad()\n"
                "    F.mse_loss(net(x), y).backward()\n"),
        Snippet("closure", HEAD + "def closure():\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    return loss\n\n"
                "for epoch in range(9):\n    opt.step(closure)\n    probe.backward()\n"),
        Snippet("only from the second round on", HEAD + "for i, (x, y) in enumerate(data):\n    if i > 0:\n        opt.step()\n        opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("swapped", HEAD + LOOP + "    opt.step()\n    loss.backward()\n", line=10, fixed=HEAD + LOOP + "    loss.backward()\n    opt.step()\n"),
        Snippet("first of all", FUNCTION + "        optimizer.step()\n        optimizer.zero_grad()\n        loss_fn(model(x), y).backward()\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            if not turn.step or one_optimiser(turn.step) is None or any(map(is_replaced, turn.loop.events())):
                continue
            first = min(event.order for event in turn.backward)
            if any(step.order > first or not steps_plainly(step) for step in turn.step):
                continue
            events = (*turn.step, *turn.backward)
            if not all(always(event, turn.loop) and event.loops()[0] is turn.loop for event in events):
                continue
            if not self._has_gradients_before(program, turn):
                yield self.finding(program, turn.step[0].node, fix=self._fix(program, turn))

    def _has_gradients_before(self, program: Program, turn: Round) -> bool:
        earlier = program.entry_of(turn.loop).block.events()
        return any(is_backward(event) and event.order < turn.loop.order for event in earlier)

    def _fix(self, program: Program, turn: Round) -> Fix | None:
        step, backward = alone(program, turn.step[0]), alone(program, turn.backward[-1])
        if step is None or backward is None or not is_beside(program, step, backward) or len(turn.step) > 1:
            return None
        if any(turn.step[0].order < zero.order for zero in turn.zero):
            return None  # the clearing would then stand between the two
        edits = moved_after(program, step, backward)
        return Fix("Step after backward()", edits, SAFE) if edits else None
