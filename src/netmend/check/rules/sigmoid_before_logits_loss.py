from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads, without
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss()
"""
TRAIN = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x))

def train(model, loader, criterion):
    for x, y in loader:
        loss = criterion(model(x).squeeze(1), y)
        loss.backward()

train(Net(), loader, nn.BCEWithLogitsLoss())
"""


@register
class SigmoidBeforeLogitsLoss(StaticRule):
    """Sigmoid is applied to what reaches BCEWithLogits, which applies sigmoid itself.

    Applied twice, every probability lies between 0.5 and 0.73: the loss cannot fall below about 0.31 for ones and 0.69 for zeros, and
    training hardly moves.

    Give `BCEWithLogitsLoss` raw scores, and apply sigmoid only where probabilities are shown or thresholded.
    """

    code = "S204"
    cause = "LYR-SOFTMAX-EXTRA"
    message = "Sigmoid feeds BCEWithLogits, which applies sigmoid again; pass raw logits."
    triggers = ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")

    GOOD = (
        Snippet("raw scores", HEAD + "loss = criterion(net(x), y)\n"),
        Snippet("sigmoid only for the prediction", HEAD + "out = net(x)\nloss = criterion(out, y)\nhits = (out.sigmoid() > 0.5) == y\n"),
        Snippet("sigmoid for the plain loss", HEAD + "loss = F.binary_cross_entropy(torch.sigmoid(net(x)), y)\n"),
        Snippet("soft targets through sigmoid", HEAD + "loss = criterion(net(x), torch.sigmoid(teacher(x)))\n"),
        Snippet("sigmoid weighs the scores", HEAD + "out = net(x)\nloss = criterion(out * torch.sigmoid(out), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sigmoid layer last", HEAD + "model = nn.Sequential(net, nn.Sigmoid())\nloss = criterion(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net)\nloss = criterion(model(x), y)\n"),
        Snippet("as a method", HEAD + "loss = F.binary_cross_entropy_with_logits(net(x).sigmoid(), y)\n", line=7,
                fixed=HEAD + "loss = F.binary_cross_entropy_with_logits(net(x), y)\n"),
        Snippet("model and loss meet in a function", TRAIN, line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("bce_logits",), ("sigmoid", "hard_sigmoid")):
            edits = without(program, op)
            yield self.finding(program, op.node, fix=Fix("Drop the sigmoid", edits) if edits else None)
