from __future__ import annotations

from collections.abc import Iterator

from netmend.lint.engine.program import Program
from netmend.lint.rule import Snippet, StaticRule, register
from netmend.lint.understand.training import rounds
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


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
        Snippet("a caller may clear", "def update(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n"),
        Snippet("an unknown helper gets the optimizer", HEAD + "from tools import prepare\nfor x, y in data:\n    prepare(optimizer)\n"
                "    net(x).sum().backward()\n    optimizer.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("missing", HEAD + "for x, y in data:\n    loss = net(x).sum()\n    loss.backward()\n    optimizer.step()\n", line=8),
        Snippet("missing in a function", "def train(model, loader, criterion, optimizer):\n    for x, y in loader:\n"
                "        loss = criterion(model(x), y)\n        loss.backward()\n        optimizer.step()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for turn in rounds(program):
            if turn.zero or turn.opaque or not program.entry_of(turn.loop).complete:
                continue
            if any(event.loops()[0] is turn.loop for event in turn.step):
                yield self.finding(program, turn.backward[-1].node)
