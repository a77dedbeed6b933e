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

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""


@register
class SigmoidBeforeCrossEntropy(StaticRule):
    """Sigmoid or tanh is applied to what reaches the cross-entropy.

    Cross-entropy turns differences between scores into probabilities. Squeezed into 0…1 (or -1…1) the differences cannot grow, so no
    class ever gets a high probability and the loss stays high.

    Give cross-entropy the raw scores. For several labels at once use `BCEWithLogitsLoss`, also on raw scores.
    """

    code = "S203"
    cause = "ACT-OUT-WRONG"
    message = "{} squashes the scores before the cross-entropy, so no class can win clearly; pass raw logits."
    triggers = ("CrossEntropyLoss", "cross_entropy")

    GOOD = (
        Snippet("raw scores", HEAD + "loss = criterion(net(x), y)\n"),
        Snippet("binary loss on sigmoid", HEAD + "loss = F.binary_cross_entropy(torch.sigmoid(net(x)), y)\n"),
        Snippet("bounded scores with a temperature", HEAD + "loss = criterion(10 * torch.tanh(net(x)), y)\n"),
        Snippet("tanh inside the network", HEAD + "model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), net)\nloss = criterion(model(x), y)\n"),
        Snippet("sigmoid when not training", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.fc = nn.Linear(4, 3)\n\n    def forward(self, x):\n        x = self.fc(x)\n"
                "        return x if self.training else torch.sigmoid(x)\n\nnet = Net()\nloss = nn.functional.cross_entropy(net(x), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("sigmoid layer last", HEAD + "model = nn.Sequential(net, nn.Sigmoid())\nloss = criterion(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net)\nloss = criterion(model(x), y)\n"),
        Snippet("tanh as a function", HEAD + "out = torch.tanh(net(x))\nloss = F.cross_entropy(out, y)\n", line=7,
                fixed=HEAD + "out = net(x)\nloss = F.cross_entropy(out, y)\n"),
        Snippet("in forward of a class", "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n        self.fc = nn.Linear(4, 3)\n        self.out = nn.Sigmoid()\n        self.loss = nn.CrossEntropyLoss()\n\n"
                "    def forward(self, x):\n        return self.out(self.fc(x))\n\n    def training_step(self, batch, _):\n        x, y = batch\n"
                "        return self.loss(self(x), y)\n", line=12),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("cross_entropy",), ("sigmoid", "tanh", "hard_sigmoid", "softsign")):
            edits = without(program, op)
            fix = Fix(f"Drop the {op.name}", edits) if edits else None
            yield self.finding(program, op.node, self.message.format(op.name.capitalize()), fix=fix)
