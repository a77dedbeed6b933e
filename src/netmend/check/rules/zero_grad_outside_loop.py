from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Event
from netmend.program.engine.program import Program
from netmend.program.meaning.loops import made_in, runs_once, turns
from netmend.program.meaning.moves import alone, function_of, moved_before, within
from netmend.program.meaning.training import Round
from netmend.program.meaning.training_steps import cleared_outside, is_replaced, one_optimiser, steps_plainly
from netmend.vocabulary.finding import SAFE, Finding, Fix

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters())
"""
LOOP = "for epoch in range(9):\n"
BATCH = "        loss = (net(x) - y).square().mean()\n"
TRAINER = """\
import torch

class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.opt = torch.optim.Adam(net.parameters())

    def fit(self):
"""


@register
class ZeroGradOutsideLoop(StaticRule):
    """zero_grad() is called before the batch loop or once per epoch, while step() runs at each batch.

    `backward()` adds to the gradients that are there, so each step uses the sum of all batches since the last clearing: steps grow
    with every batch, the loss jumps or diverges.

    Call `optimizer.zero_grad()` inside the loop that steps, before `backward()`.
    """

    code = "S103"
    cause = "LOOP-ZERO-GRAD"
    message = "Gradients are cleared outside the loop that steps, so they accumulate from batch to batch; clear inside it, before backward()."
    triggers = ("zero_grad(",)

    GOOD = (
        Snippet("cleared at each batch", HEAD + LOOP + "    for x, y in data:\n        optimizer.zero_grad()\n" + BATCH
                + "        loss.backward()\n        optimizer.step()\n"),
        Snippet("one step per epoch", HEAD + LOOP + "    optimizer.zero_grad()\n    for x, y in data:\n" + BATCH + "        loss.backward()\n    optimizer.step()\n"),
        Snippet("cleared before and after each step", HEAD + "optimizer.zero_grad()\n" + LOOP + "    for i, (x, y) in enumerate(data):\n" + BATCH
                + "        (loss / 4).backward()\n        if i % 4 == 3:\n            optimizer.step()\n            optimizer.zero_grad()\n"),
        Snippet("another optimiser", HEAD + "other = torch.optim.Adam(head.parameters())\n" + LOOP + "    other.zero_grad()\n    for x, y in data:\n" + BATCH
                + "        net.zero_grad()\n        loss.backward()\n        optimizer.step()\n"),
        Snippet("a step of its own before the loop", HEAD + "optimizer.zero_grad()\nnet(first).sum().backward()\noptimizer.step()\n" + LOOP + "    for x, y in data:\n"
                + BATCH + "        loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("once per epoch", HEAD + LOOP + "    optimizer.zero_grad()\n    for x, y in data:\n" + BATCH + "        loss.backward()\n        optimizer.step()\n", line=7,
                fixed=HEAD + LOOP + "    for x, y in data:\n" + BATCH + "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n"),
        Snippet("once, in a trainer", TRAINER + "        self.opt.zero_grad()\n        for epoch in range(9):\n            for x, y in self.loader:\n"
                "                self.net(x).sum().backward()\n                self.opt.step()\n", line=9,
                fixed=TRAINER + "        for epoch in range(9):\n            for x, y in self.loader:\n"
                "                self.opt.zero_grad()\n                self.net(x).sum().backward()\n                self.opt.step()\n"),
        Snippet("in the caller", "def train(model, loader, optimizer):\n    for x, y in loader:\n        model(x).sum().backward()\n        optimizer.step()\n\n"
                "def main(model, loader, optimizer):\n    for epoch in range(9):\n        optimizer.zero_grad()\n        train(model, loader, optimizer)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in turns(program):
            here = [step for step in turn.step if step.loops()[0] is turn.loop and steps_plainly(step)]
            if turn.zero or not here or runs_once(turn.loop) or any(map(is_replaced, turn.loop.events())):
                continue
            outside = cleared_outside(program, turn)
            if outside is not None and not made_in(program, one_optimiser(turn.step), turn.loop):
                yield self.finding(program, outside.node, fix=self._fix(program, turn, outside))

    def _fix(self, program: Program, turn: Round, outside: Event) -> Fix | None:
        statement, backward = alone(program, outside), within(program, turn.backward[0])
        if statement is None or backward is None or len(turn.backward) > 1:
            return None
        if function_of(program, statement) is not function_of(program, backward):
            return None
        edits = moved_before(program, statement, backward)
        return Fix("Clear before backward()", edits, SAFE) if edits else None
