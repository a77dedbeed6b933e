from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.gradient_cuts import compared
from netmend.program.meaning.gradient_flow import lost
from netmend.program.meaning.heads import where
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


@register
class AccuracyAsLoss(StaticRule):
    """backward() starts from an accuracy: the share of predictions that equal the labels.

    A comparison has no gradient. `backward()` fails with "does not require grad", or, where that was silenced, no weight ever changes.

    Train on a loss with a gradient (cross-entropy, BCEWithLogits) and only report the accuracy.
    """

    code = "S224"
    cause = "LOS-GRAPH-CUT"
    message = "An accuracy has no gradient; call backward() on a loss such as cross-entropy."
    triggers = (".backward(",)

    GOOD = (
        Snippet("accuracy beside the loss", HEAD + "out = net(x)\nloss = nn.functional.cross_entropy(out, y)\naccuracy = (out.argmax(1) == y).float().mean()\n"
                "loss.backward()\nprint(accuracy)\n"),
        Snippet("mask from a comparison", HEAD + "out = net(x)\nmask = (out.argmax(1) == y).float()\n((out - z) ** 2).sum(1).mul(mask).mean().backward()\n"),
        Snippet("soft accuracy", HEAD + "p = net(x).softmax(1)\n(1 - p.gather(1, y[:, None]).mean()).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("error rate", HEAD + "for x, y in loader:\n    accuracy = (net(x).argmax(1) == y).float().mean()\n    loss = 1 - accuracy\n    loss.backward()\n    optimizer.step()\n", line=9),
        Snippet("forced to need a gradient", HEAD + "wrong = (net(x).argmax(dim=1) != y).float().sum()\nwrong.requires_grad_().backward()\n", line=7),
        Snippet("in a helper", HEAD + "def accuracy(out, y):\n    return out.argmax(1).eq(y).float().mean()\n\nloss = -accuracy(net(x), y)\nloss.backward()\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                node = compared(loss)
                if node is not None:
                    related = where(program, "the comparison", node)
                    yield self.finding(program, event.node, related=related)
