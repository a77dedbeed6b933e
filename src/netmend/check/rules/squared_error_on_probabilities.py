from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads
from netmend.program.meaning.loss_targets import class_ids, one_hot
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
label = torch.randint(0, 3, (64,))
"""


@register
class SquaredErrorOnProbabilities(StaticRule):
    """Classes are learned with a squared error on sigmoid or softmax outputs.

    The gradient of a squared error behind a sigmoid vanishes exactly for the samples that are most wrong; cross-entropy has its largest
    gradient there. Training works, but slowly, and may stall at the start.

    Use `BCEWithLogitsLoss` or `CrossEntropyLoss` on raw scores.
    """

    code = "S229"
    cause = "LOS-SELECT"
    message = (
        "A squared error after {} learns slowly from the worst samples; use cross-entropy on raw scores."
    )
    advisory = True
    triggers = ("MSELoss", "mse_loss")

    GOOD = (
        Snippet("cross-entropy", HEAD + "loss = F.cross_entropy(net(x), label)\n"),
        Snippet("pictures rebuilt", HEAD + "for x, _ in loader:\n    loss = F.mse_loss(torch.sigmoid(net(x)), x)\n"),
        Snippet("probabilities of a teacher", HEAD + "loss = F.mse_loss(net(x).softmax(1), teacher(x).softmax(1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax and one-hot", HEAD + "loss = F.mse_loss(net(x).softmax(1), F.one_hot(label, 3).float())\n", line=7),
        Snippet("sigmoid and two classes", HEAD + "label = torch.randint(0, 2, (64,))\nloss = nn.MSELoss()(torch.sigmoid(net(x))[:, 0], label.float())\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use, op in heads(program, ("mse",), ("sigmoid", "softmax")):
            ids = class_ids(program, use.target)
            if one_hot(program, use.target) is not None or (ids is not None and ids.count == 2):
                yield self.finding(program, use.node, self.message.format(op.name))
