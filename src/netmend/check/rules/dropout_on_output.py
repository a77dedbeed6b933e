from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.losses import TRIGGERS, losses
from netmend.program.meaning.modules import DROPOUTS
from netmend.program.meaning.operations import LAYOUT, all_origins
from netmend.program.meaning.paths import previous
from netmend.vocabulary.finding import Finding

NET = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
"""
STEP = "\nnet = Net()\nloss = F.cross_entropy(net(x), y)\nloss.backward()\n"
_KINDS = frozenset(("cross_entropy", "bce_logits", "mse", "l1", "smooth_l1", "huber", "nll"))


@register
class DropoutOnOutput(StaticRule):
    """Dropout is applied to the network's output, right before the loss.

    It sets scores of random classes (or random predictions) to 0 and multiplies the others: the loss is computed from answers the
    network never gave, and the gradient of the dropped ones is zero.

    Apply dropout before the last layer.
    """

    code = "S325"
    cause = "LYR-DROPOUT-RATE"
    message = "Dropout is applied to the output that the loss gets; put it before the last layer."
    triggers = (*TRIGGERS, ".backward(")

    GOOD = (
        Snippet("before the last layer", NET + "        return self.fc2(self.drop(F.relu(self.fc1(x))))\n" + STEP),
        Snippet("nothing is dropped", NET + "        return F.dropout(self.fc2(x), 0.0)\n" + STEP),
        Snippet("inside a block", NET + "        x = x + self.drop(self.fc1(x))\n        return self.fc2(x)\n" + STEP),
        Snippet("noise on the target side", NET + "        return self.fc2(self.fc1(x))\n\nloss = F.mse_loss(Net()(x), F.dropout(y, 0.1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("last line of forward", NET + "        x = F.relu(self.fc1(x))\n        return self.drop(self.fc2(x))\n" + STEP, line=14),
        Snippet("last layer of a Sequential", "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Dropout(0.2))\n"
                "criterion = nn.MSELoss()\n\ndef train(data, optimizer):\n    for x, y in data:\n        loss = criterion(net(x).squeeze(1), y)\n        loss.backward()\n", line=4),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in losses(program):
            if use.kind not in _KINDS:
                continue
            for op in all_origins(use.prediction, lambda op: op.name in DROPOUTS):
                before = previous(op, LAYOUT)
                if before is not None and before.name == "linear" and constant(op.option("p", 0), 0.5) != 0:
                    yield self.finding(program, op.node)
