"""Outputs that cannot reach what the loss asks for."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.examples import TORCH_F, net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Item, Operation, Value, constant, resolved
from netmend.program.meaning.losses import ELEMENTWISE, PLAIN, ends_in, heads, loss_uses, without
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation
from netmend.program.meaning.signed_terms import signed_terms
from netmend.program.meaning.training import backward_calls, loss_of
from netmend.program.meaning.uses import operations
from netmend.program.meaning.value_ranges import is_centred, range_of
from netmend.vocabulary.finding import Finding, Fix

HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""
LAST = net(
    "fc1 = nn.Linear(320, 50)",
    "fc2 = nn.Linear(50, 10)",
    head=TORCH_F,
    forward="        x = F.relu(self.fc1(x.view(-1, 320)))\n        {}\n        return {}\n",
)
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


class OneSidedOutput(StaticRule, code="S209", cause="ACT-OUT-WRONG"):
    """The last activation can give only one side of what the loss or the target needs.

    Scores for cross-entropy and BCEWithLogits must be able to go below zero: behind a ReLU no class can be voted down, a probability never
    falls below one half, and units that reach zero stop learning. The same holds for a regression whose targets go below zero (or, behind a
    sigmoid, above one).

    Let the network end in its linear layer.
    """

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
        Snippet("amounts that are never negative", HEAD + "loss = F.mse_loss(F.relu(net(x)), amount)\n"),
        Snippet("sigmoid for pictures", HEAD + "y = torch.rand(64, 3)\nloss = F.mse_loss(torch.sigmoid(net(x)), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("ReLU before log_softmax", LAST.format("x = ⟨F.relu(self.fc2(x)) → self.fc2(x)⟩", "F.log_softmax(x, dim=1)") + FIT),
        mended("ReLU in what is returned", LAST.format("x = x.flatten(1)", "self.fc2(x).⟨relu(). → ⟩log_softmax(1)")),
        mended("layers before LogSoftmax", HEAD + "model = nn.Sequential(net, nn.⟨ReLU(), nn. → ⟩LogSoftmax(dim=1))\nloss = F.nll_loss(model(x), y)\n"),
        mended("ReLU last", HEAD + "model = nn.Sequential(net⟨, nn.ReLU() → ⟩)\nloss = criterion(model(x), y)\n"),
        mended("ReLU before the binary loss", HEAD + "out = ⟨F.relu(net(x)) → net(x)⟩\nloss = F.binary_cross_entropy_with_logits(out, y)\n"),
        mended("standardised target", HEAD + "raw = torch.load('targets.pt')\ny = (raw - raw.mean()) / raw.std()\nfor rows in batches:\n"
                "    loss = F.mse_loss(⟨torch.relu(net(x[rows])) → net(x[rows])⟩, y[rows])\n"),
        mended("target below zero by its formula", HEAD + "x = torch.rand(500, 4) * 2 - 1\ny = 2 * x[:, :1] + torch.sin(3 * x[:, 1:2])\nloss = nn.MSELoss()(net(x)⟨.sigmoid() → ⟩, y)\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
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

    def _found(self, program: Program, op: Op, loss: str, message: str = "") -> Finding | None:
        fix = Fix(f"Drop the {op.name}", without(program, op))
        return self.finding(program, op.node, message or self.message.format(_title(op), loss), fix=fix)


def _before_log_softmax(program: Program) -> Iterator[Op]:
    """A ReLU straight after a layer whose scores `log_softmax` is given: no loss need be seen, it is made for one."""
    for op, _ in operations(program, "log_softmax"):
        for last in ends_in(op.input, _NEVER_NEGATIVE):
            scores = ends_in(last.input, LINEAR_MAPS, PLAIN)
            if scores:
                yield last


def _title(op: Op) -> str:
    return {"relu": "ReLU", "relu6": "ReLU6", "gelu": "GELU", "silu": "SiLU", "elu": "ELU"}.get(
        op.name, op.name.capitalize()
    )


NET = """\
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        {0}
        return {1}

model = Net()
for x, y in loader:
    loss = F.nll_loss({2}, y)
    loss.backward()
"""
BY_HAND = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
for x, y in loader:
    p = {0}
    p = p / p.sum(1, keepdim=True)
    loss = {1}
    loss.backward()
"""
PICKED, WEIGHTED = (
    "-torch.log(p[torch.arange(len(y)), y] + 1e-9).mean()",
    "-(F.one_hot(y, 3) * torch.log(p + 1e-9)).sum(1).mean()",
)
_CUT = ("relu", "relu6")
_TINY = 1e-2  # beside that a zero is still a logarithm far down: `log(relu(x) + 1)` is another matter


class CutScoresIntoLog(StaticRule, code="S235", cause="ACT-OUT-WRONG"):
    """Scores behind a ReLU reach the logarithm of a likelihood, as they are or divided by their sum.

    Half of the scores are exactly zero at the start. Their logarithm is infinite; with a small number added or a clamp it is finite, but the
    gradient stops at the ReLU, so a class that got no share never gets one again.

    Take `F.log_softmax(scores, dim=1)` of the linear layer's scores, without the ReLU and the division.
    """

    message = "Scores that this {} sets to zero reach a logarithm; use F.log_softmax on the scores of the linear layer."
    triggers = ("log(", ".log")
    patterns = (r"relu|ReLU",)

    GOOD = (
        Snippet("log_softmax", NET.format("x = self.last(x)", "F.log_softmax(x, 1)", "model(x)")),
        Snippet("counts", NET.format("x = F.relu(self.last(x))", "x", "torch.log(model(x) + 1)")),
        Snippet("kept above one", NET.format("x = F.relu(self.last(x))", "x", "torch.log(model(x).clamp(min=1.0))")),
        Snippet("entropy of sparse shares", NET.format("x = F.relu(self.last(x))", "x / (x.sum(1, keepdim=True) + 1e-8)", "score(y), y) + (model(x) * torch.log(model(x) + 1e-8)).mean() + F.l1_loss(y")),
    )  # fmt: skip
    BAD = (
        Snippet("picked by hand", BY_HAND.format("F.relu(net(x))", PICKED), line=7),
        Snippet("weighted by hand", BY_HAND.format("F.relu(net(x))", WEIGHTED), line=7),
        Snippet("clamped", NET.format("x = self.last(x).relu()", "x / torch.sum(x, 1, keepdim=True)", "model(x).clamp(min=1e-7).log()"), line=11),
        Snippet("as they are", NET.format("x = F.relu(self.last(x))", "torch.log(x)", "model(x)"), line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        logarithms = [op for _, op in heads(program, ("nll",), ("log",))]
        for op in (*logarithms, *_by_hand(program)):
            if op.input is None:
                continue
            value = _lifted(op.input)
            while isinstance(value, Item):  # the probability of the true class
                value = resolved(value.base)
            for last in ends_in(_share(value) or value, _CUT):
                if ends_in(last.input, LINEAR_MAPS, PLAIN):
                    name = "ReLU6" if last.name == "relu6" else "ReLU"
                    yield self.finding(program, last.node, self.message.format(name))


def _by_hand(program: Program) -> Iterator[Op]:
    """Logarithms that a loss takes with a minus: `-log(p[rows, y]).mean()`, `-(y * log(p)).sum()`."""
    for event in backward_calls(program):
        loss = loss_of(event)
        for sign, term in (signed_terms(loss) if loss is not None else None) or ():
            term = resolved(term)
            parts = term.operands if isinstance(term, Operation) and term.operator == "*" else (term,)
            for part in parts if sign < 0 else ():
                op = operation(resolved(part))
                if op is not None and op.name == "log":
                    yield op


def _lifted(value: Value) -> Value:
    """Without the small number that is added, or the clamp, that keeps a logarithm finite."""
    value = resolved(value)
    op = operation(value)
    if op is not None and op.name in ("clamp", "clip", "clamp_min") and op.input is not None:
        limit = op.value.argument("min", 0 if op.value.method else 1)
        return resolved(op.input) if _tiny(limit) else value
    if isinstance(value, Operation) and value.operator == "+" and len(value.operands) == 2:
        one, other = value.operands
        for kept, added in ((one, other), (other, one)):
            if _tiny(added):
                return resolved(kept)
    return value


def _tiny(value: Value | None) -> bool:
    number = constant(value)
    return isinstance(number, float) and 0 < number <= _TINY


def _share(value: Value) -> Value | None:
    """What is divided by its own sum."""
    if not isinstance(value, Operation) or value.operator != "/" or len(value.operands) != 2:
        return None
    part, whole = resolved(value.operands[0]), operation(_lifted(value.operands[1]))
    if whole is None or whole.name != "sum" or whole.input is None:
        return None
    return part if resolved(whole.input) is part else None
