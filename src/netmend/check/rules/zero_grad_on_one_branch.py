from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event, always, branches_between
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import changes_in, on_every_path, turns
from netmend.program.meaning.moves import alone, function_of, moved_before, within
from netmend.program.meaning.training import Round
from netmend.program.meaning.training_steps import clears, is_replaced, one_optimiser, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters())
"""
LOOP = "for step, (x, y) in enumerate(data):\n    loss = F.mse_loss(net(x), y)\n"
FUNCTION = "def train(model, loader, optimizer):\n    for i, batch in enumerate(loader):\n        loss = model(batch)\n"


@register
class ZeroGradOnOneBranch(StaticRule):
    """zero_grad() runs only in some rounds of the loop, while backward() and step() run in all of them.

    In the rounds without it, `backward()` adds to old gradients and the step follows the sum: a burst of growing steps until the
    branch is taken again. (Accumulation is different: there, `step()` stands in the branch too.)

    Move `zero_grad()` out of the branch; to accumulate, move `step()` into it.
    """

    code = "S104"
    cause = "LOOP-ZERO-GRAD"
    message = "Gradients are cleared only when this branch is taken, but step() runs in every iteration; clear before each backward()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("accumulation", HEAD + LOOP + "    (loss / 4).backward()\n    if step % 4 == 3:\n        opt.step()\n        opt.zero_grad()\n"),
        Snippet("cleared on both paths", HEAD + LOOP + "    if step % 2:\n        opt.zero_grad()\n    else:\n        net.zero_grad()\n    loss.backward()\n    opt.step()\n"),
        Snippet("an option decides", "def fit(net, opt, data, clear=True):\n    for x in data:\n        loss = net(x).sum()\n        if clear:\n            opt.zero_grad()\n"
                "        loss.backward()\n        opt.step()\n"),
        Snippet("logging clears once more", HEAD + LOOP + "    opt.zero_grad()\n    if step % 9 == 0:\n        probe(loss)\n        opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
        Snippet("step in the same branch", HEAD + LOOP + "    if step > 9:\n        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in the logging branch", HEAD + LOOP + "    if step % 100 == 0:\n        opt.zero_grad()\n        print(step, loss.item())\n    loss.backward()\n    opt.step()\n", line=10,
                fixed=HEAD + LOOP + "    if step % 100 == 0:\n        print(step, loss.item())\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"),
        Snippet("accumulation without a branch for step", FUNCTION + "        loss.backward()\n        optimizer.step()\n        if (i + 1) % 8 == 0:\n            optimizer.zero_grad()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            optimiser = one_optimiser(turn.step)
            if optimiser is None or not turn.zero or not all(clears(zero, optimiser) for zero in turn.zero):
                continue
            if not all(always(event, turn.loop) for event in (*turn.step, *turn.backward)):
                continue
            if not all(steps_plainly(step) and step.loops()[0] is turn.loop for step in turn.step):
                continue
            if on_every_path(turn.loop.body, {id(zero) for zero in turn.zero}) or any(
                map(is_replaced, turn.loop.events())
            ):
                continue
            if all(self._depends_on_round(zero, turn) for zero in turn.zero):
                yield self.finding(program, turn.zero[0].node, fix=self._fix(program, turn))

    def _depends_on_round(self, zero: Event, turn: Round) -> bool:
        """An option that holds for the whole loop may be a choice of the user."""
        branches = branches_between(zero, turn.loop)
        return len(branches) == 1 and changes_in(branches[0][0].test, turn.loop)

    def _fix(self, program: Program, turn: Round) -> Fix | None:
        zero, backward = alone(program, turn.zero[0]), within(program, turn.backward[0])
        if zero is None or backward is None or len(turn.zero) + len(turn.backward) > 2:
            return None
        is_first = turn.zero[0].order < turn.backward[0].order
        if not is_first or function_of(program, zero) is not function_of(program, backward):
            return None
        edits = moved_before(program, zero, backward)
        return Fix("Clear before each backward()", edits, SAFE) if edits else None
