from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import PLAIN, ends_in, heads, loss_uses, without
from netmend.program.meaning.losses import ELEMENTWISE
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation
from netmend.program.meaning.value_ranges import is_centred, range_of
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""
LAST = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x.view(-1, 320)))
        {}
        return {}
"""
FIT = """
def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
"""
_NEVER_NEGATIVE = ("relu", "relu6", "softplus")
_HARDLY_NEGATIVE = ("gelu", "silu", "elu", "celu", "selu", "mish", "hardswish")
_LIMITED = ("relu", "relu6", "softplus", "sigmoid", "hard_sigmoid", "softmax")


@register
class OneSidedOutput(StaticRule):
    """The last activation can give only one side of what the loss or the target needs.

    Scores for cross-entropy and BCEWithLogits must be able to go below zero: behind a ReLU no class can be voted down, a probability never
    falls below one half, and units that reach zero stop learning. The same holds for a regression whose targets go below zero (or, behind a
    sigmoid, above one).

    Let the network end in its linear layer.
    """

    code = "S209"
    cause = "ACT-OUT-WRONG"
    message = "{} cuts off the scores before {}; end the network with its linear layer."
    triggers = (
        "CrossEntropyLoss",
        "cross_entropy",
        "BCEWithLogitsLoss",
        "log_softmax",
        "LogSoftmax",
        "MSELoss",
        "mse_loss",
        "L1Loss",
        "l1_loss",
    )

    GOOD = (
        Snippet("ReLU between layers", HEAD + "model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), net)\nloss = criterion(model(x), y)\n"),
        Snippet("pooled maps as scores", HEAD + "model = nn.Sequential(nn.Conv2d(3, 10, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())\nloss = criterion(model(x), y)\n"),
        Snippet("scores from a linear layer", LAST.format("x = self.fc2(x)", "F.log_softmax(x, dim=1)") + FIT),
        Snippet("attention over what is never negative", HEAD + "scale = F.softmax(F.relu(net(x)), dim=1)\nloss = criterion(net(x) * scale, y)\n"),
        Snippet("pooled maps as scores of log_softmax", HEAD + "model = nn.Sequential(nn.Conv2d(3, 10, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LogSoftmax(1))\n"
                "loss = F.nll_loss(model(x), y)\n"),
        Snippet("ELU before log_softmax", LAST.format("x = F.elu(self.fc2(x))", "F.log_softmax(x, dim=1)") + FIT),
        Snippet("amounts that are never negative", HEAD + "loss = F.mse_loss(F.relu(net(x)), amount)\n"),
        Snippet("target above zero by its formula", HEAD + "y = torch.rand(64, 3) + 1\nloss = F.mse_loss(F.softplus(net(x)), y)\n"),
        Snippet("sigmoid for pictures", HEAD + "y = torch.rand(64, 3)\nloss = F.mse_loss(torch.sigmoid(net(x)), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("ReLU before log_softmax", LAST.format("x = F.relu(self.fc2(x))", "F.log_softmax(x, dim=1)") + FIT, line=13,
                fixed=LAST.format("x = self.fc2(x)", "F.log_softmax(x, dim=1)") + FIT),
        Snippet("ReLU in what is returned", LAST.format("x = x.flatten(1)", "self.fc2(x).relu().log_softmax(1)"), line=14,
                fixed=LAST.format("x = x.flatten(1)", "self.fc2(x).log_softmax(1)")),
        Snippet("layers before LogSoftmax", HEAD + "model = nn.Sequential(net, nn.ReLU(), nn.LogSoftmax(dim=1))\nloss = F.nll_loss(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net, nn.LogSoftmax(dim=1))\nloss = F.nll_loss(model(x), y)\n"),
        Snippet("ReLU last", HEAD + "model = nn.Sequential(net, nn.ReLU())\nloss = criterion(model(x), y)\n", line=7,
                fixed=HEAD + "model = nn.Sequential(net)\nloss = criterion(model(x), y)\n"),
        Snippet("ReLU before the binary loss", HEAD + "out = F.relu(net(x))\nloss = F.binary_cross_entropy_with_logits(out, y)\n", line=7,
                fixed=HEAD + "out = net(x)\nloss = F.binary_cross_entropy_with_logits(out, y)\n"),
        Snippet("standardised target", HEAD + "raw = torch.load('targets.pt')\ny = (raw - raw.mean()) / raw.std()\nfor rows in batches:\n    loss = F.mse_loss(torch.relu(net(x[rows])), y[rows])\n", line=10,
                fixed=HEAD + "raw = torch.load('targets.pt')\ny = (raw - raw.mean()) / raw.std()\nfor rows in batches:\n    loss = F.mse_loss(net(x[rows]), y[rows])\n"),
        Snippet("target below zero by its formula", HEAD + "x = torch.rand(500, 4) * 2 - 1\ny = 2 * x[:, :1] + torch.sin(3 * x[:, 1:2])\n"
                "loss = nn.MSELoss()(net(x).sigmoid(), y)\n", line=9,
                fixed=HEAD + "x = torch.rand(500, 4) * 2 - 1\ny = 2 * x[:, :1] + torch.sin(3 * x[:, 1:2])\nloss = nn.MSELoss()(net(x), y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("cross_entropy",), _NEVER_NEGATIVE):
            yield self._found(program, op, "cross-entropy")
        for op in _before_log_softmax(program):
            yield self._found(program, op, "log_softmax")
        for _, op in heads(program, ("bce_logits",), _NEVER_NEGATIVE + _HARDLY_NEGATIVE):
            yield self._found(program, op, "BCEWithLogits")
        for use in loss_uses(program):
            ops = ends_in(use.prediction, _LIMITED) if use.kind in ELEMENTWISE else ()
            if not ops:
                continue
            known = range_of(program, use.target)
            if is_centred(program, use.target) or (
                known is not None and known[0] < min(-0.2, -0.2 * known[1])
            ):
                for op in ops:
                    yield self._found(
                        program,
                        op,
                        "",
                        f"{_title(op)} cannot produce the targets below zero; end the network with its linear layer.",
                    )

    def _found(self, program: Program, op: Op, loss: str, message: str = "") -> Finding:
        edits = without(program, op)
        fix = Fix(f"Drop the {op.name}", edits) if edits else None
        return self.finding(program, op.node, message or self.message.format(_title(op), loss), fix=fix)


def _before_log_softmax(program: Program) -> Iterator[Op]:
    """A ReLU straight after a layer whose scores `log_softmax` is given: no loss need be seen, it is made for one."""
    seen: set[int] = set()
    for event in program.calls:
        op = operation(event.value)
        if op is None or op.name != "log_softmax":
            continue
        for last in ends_in(op.input, _NEVER_NEGATIVE):
            scores = ends_in(last.input, LINEAR_MAPS, PLAIN)
            if scores and id(last.node) not in seen:
                seen.add(id(last.node))
                yield last


def _title(op: Op) -> str:
    return {"relu": "ReLU", "relu6": "ReLU6", "gelu": "GELU", "silu": "SiLU", "elu": "ELU"}.get(
        op.name, op.name.capitalize()
    )
