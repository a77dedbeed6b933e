from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, always, before, branches_between
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const
from netmend.program.meaning.loops import every_nth, exclusive, turns
from netmend.program.meaning.moves import alone, is_beside, moved_after, moved_before
from netmend.program.meaning.training import Round, stepped
from netmend.program.meaning.training_steps import clears, is_written, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
FUNCTION = "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n"
GAN = """\
def train(netG, netD, opt_g, opt_d, loader, bce):
    for real in loader:
        opt_d.zero_grad()
        bce(netD(real), 1).backward()
        opt_d.step()
        opt_g.zero_grad()
        bce(netD(netG(noise)), 1).backward()
        opt_g.step()
"""


@register
class ZeroGradBetweenBackwardAndStep(StaticRule):
    """zero_grad() stands between backward() and step(), so the step sees empty gradients.

    The gradients that `backward()` has just computed are thrown away before they are used. Nothing is learnt, or, with gradient
    accumulation, only from the last batch of each window; nothing crashes.

    Clear before `backward()` or after `step()`; when accumulating, clear only after the step.
    """

    code = "S102"
    cause = "LOOP-STEP"
    message = "Gradients are cleared after backward() and before step() uses them; clear before backward() or after step()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("cleared before", HEAD + "for x, y in data:\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"),
        Snippet("cleared after", HEAD + "for x, y in data:\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n    opt.zero_grad()\n"),
        Snippet("two optimisers", GAN),
        Snippet("gradients are put back", HEAD + "for x, y in data:\n    F.mse_loss(net(x), y).backward()\n    kept = [p.grad.clone() for p in net.parameters()]\n"
                "    opt.zero_grad()\n    for p, g in zip(net.parameters(), kept):\n        p.grad = g\n    opt.step()\n"),
        Snippet("second backward after clearing", HEAD + "for x, y in data:\n    F.mse_loss(net(x), y).backward()\n    perturb(net)\n    opt.zero_grad()\n"
                "    F.mse_loss(net(x), y).backward()\n    opt.step()\n"),
        Snippet("accumulation", HEAD + "for i, (x, y) in enumerate(data):\n    (F.mse_loss(net(x), y) / 4).backward()\n    if (i + 1) % 4 == 0:\n"
                "        opt.step()\n        opt.zero_grad()\n"),
        Snippet("a bad step is skipped", HEAD + "for x, y in data:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n"
                "    if torch.isfinite(loss):\n        opt.step()\n"),
        Snippet("each fifth round has a backward of its own", HEAD + "for i, (x, y) in enumerate(data):\n    opt.zero_grad()\n    other(x).backward()\n"
                "    if i % 5 == 0:\n        F.mse_loss(net(x), y).backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("between", HEAD + "for x, y in data:\n    F.mse_loss(net(x), y).backward()\n    opt.zero_grad()\n    opt.step()\n", line=9,
                fixed=HEAD + "for x, y in data:\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"),
        Snippet("in a function, by the model", FUNCTION + "        loss = criterion(model(x), y)\n        loss.backward()\n        optimizer.zero_grad()\n"
                "        print(loss.item())\n        optimizer.step()\n", line=5,
                fixed=FUNCTION + "        loss = criterion(model(x), y)\n        optimizer.zero_grad()\n        loss.backward()\n"
                "        print(loss.item())\n        optimizer.step()\n"),
        Snippet("cleared at each small batch", HEAD + "for i, (x, y) in enumerate(data):\n    opt.zero_grad()\n    (F.mse_loss(net(x), y) / 4).backward()\n"
                "    if (i + 1) % 4 == 0:\n        opt.step()\n", line=8,
                fixed=HEAD + "for i, (x, y) in enumerate(data):\n    (F.mse_loss(net(x), y) / 4).backward()\n"
                "    if (i + 1) % 4 == 0:\n        opt.step()\n        opt.zero_grad()\n"),
        Snippet("model cleared in a helper", HEAD + "def update():\n    net.zero_grad()\n    opt.step()\n\nfor x, y in data:\n    F.mse_loss(net(x), y).backward()\n"
                "    update()\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            for step in turn.step:
                if steps_plainly(step):
                    yield from self._wiped(program, turn, step)
                    yield from self._wiped_while_accumulating(program, turn, step)

    def _wiped(self, program: Program, turn: Round, step: Event) -> Iterator[Finding]:
        """The last thing before the step that touches its gradients is a clearing."""
        earlier = [
            event for event in turn.backward if event.order < step.order and not exclusive(event, step)
        ]
        for zero in turn.zero:
            if not (
                earlier
                and zero.order > earlier[-1].order
                and before(zero, step)
                and clears(zero, stepped(step))
            ):
                continue
            if _is_written_between(turn, zero.order, step.order):
                continue
            if any(zero.order > other.order > earlier[0].order for other in turn.step):
                continue
            statement, place = alone(program, zero), alone(program, earlier[-1])
            fix = None
            if (
                statement is not None
                and place is not None
                and len(earlier) == 1
                and is_beside(program, statement, place)
            ):
                fix = Fix("Clear before backward()", moved_before(program, statement, place), SAFE)
            yield self.finding(program, zero.node, fix=fix)

    def _wiped_while_accumulating(self, program: Program, turn: Round, step: Event) -> Iterator[Finding]:
        """Each round clears and calls backward, only each k-th steps."""
        branches = branches_between(step, turn.loop)
        if len(branches) != 1 or len(turn.step) != 1 or step.loops()[0] is not turn.loop:
            return
        period = every_nth(branches[0][0].test)
        if period is None or (isinstance(period, Const) and period.value == 1):
            return
        if len(turn.backward) != 1 or not always(turn.backward[0], turn.loop):
            return
        for zero in turn.zero:
            if (
                always(zero, turn.loop)
                and clears(zero, stepped(step))
                and zero.order < turn.backward[0].order
            ):
                if _is_written_between(turn, 0, step.order) or len(turn.zero) != 1:
                    continue
                statement, place = alone(program, zero), alone(program, step)
                edits = (
                    moved_after(program, statement, place)
                    if statement is not None and place is not None
                    else ()
                )
                yield self.finding(
                    program, zero.node,
                    "Gradients are cleared at each batch although step() runs only every k-th; clear after step() instead.",
                    cause="LOOP-ACCUM", fix=Fix("Clear after step()", edits, SAFE) if edits else None,
                )  # fmt: skip


def _is_written_between(turn: Round, first: int, last: int) -> bool:
    return any(first < event.order < last and is_written(event) for event in turn.loop.events())
