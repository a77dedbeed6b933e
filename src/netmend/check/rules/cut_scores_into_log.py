from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Item, Operation, Value, constant, resolved
from netmend.program.meaning.heads import PLAIN, ends_in, heads
from netmend.program.meaning.operations import LINEAR_MAPS, Op, operation
from netmend.program.meaning.signed_terms import signed_terms
from netmend.program.meaning.training import backward_calls
from netmend.program.meaning.training_steps import loss_of
from netmend.vocabulary.finding import Finding

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


@register
class CutScoresIntoLog(StaticRule):
    """Scores behind a ReLU reach the logarithm of a likelihood, as they are or divided by their sum.

    Half of the scores are exactly zero at the start. Their logarithm is infinite; with a small number added or a clamp it is finite, but the
    gradient stops at the ReLU, so a class that got no share never gets one again.

    Take `F.log_softmax(scores, dim=1)` of the linear layer's scores, without the ReLU and the division.
    """

    code = "S235"
    cause = "ACT-OUT-WRONG"
    message = "Scores that this {} sets to zero reach a logarithm; use F.log_softmax on the scores of the linear layer."
    triggers = ("log(", ".log")
    patterns = (r"relu|ReLU",)

    GOOD = (
        Snippet("log_softmax", NET.format("x = self.last(x)", "F.log_softmax(x, 1)", "model(x)")),
        Snippet("softmax", NET.format("x = self.last(x)", "F.softmax(x, 1)", "torch.log(model(x))")),
        Snippet("counts", NET.format("x = F.relu(self.last(x))", "x", "torch.log(model(x) + 1)")),
        Snippet("amounts that are never zero", NET.format("x = F.softplus(self.last(x))", "x / x.sum(1, keepdim=True)", "torch.log(model(x))")),
        Snippet("kept above one", NET.format("x = F.relu(self.last(x))", "x", "torch.log(model(x).clamp(min=1.0))")),
        Snippet("entropy of sparse shares", NET.format("x = F.relu(self.last(x))", "x / (x.sum(1, keepdim=True) + 1e-8)", "score(y), y) + (model(x) * torch.log(model(x) + 1e-8)).mean() + F.l1_loss(y")),
        Snippet("raised before", NET.format("x = F.relu(self.last(x)) + 0.5", "x / x.sum(1, keepdim=True)", "torch.log(model(x))")),
        Snippet("divided by something else", NET.format("x = F.relu(self.last(x))", "1 + x / 8", "torch.log(model(x))")),
        Snippet("hidden units", NET.format("x = F.relu(x)", "self.last(x)", "torch.log(model(x).exp())")),
        Snippet("shares of exponentials, by hand", BY_HAND.format("net(x).exp()", PICKED)),
        Snippet("shares of positive amounts, by hand", BY_HAND.format("F.softplus(net(x))", WEIGHTED)),
        Snippet("shares that are raised, by hand", BY_HAND.format("F.relu(net(x)) + 0.1", PICKED)),
    )  # fmt: skip
    BAD = (
        Snippet("picked by hand", BY_HAND.format("F.relu(net(x))", PICKED), line=7),
        Snippet("weighted by hand", BY_HAND.format("F.relu(net(x))", WEIGHTED), line=7),
        Snippet("divided by their sum", NET.format("x = F.relu(self.last(x))", "x / x.sum(1, keepdim=True)", "torch.log(model(x))"), line=11),
        Snippet("with a small number", NET.format("x = torch.relu(self.last(x))", "x / (x.sum(1, keepdim=True) + 1e-8)", "torch.log(model(x) + 1e-8)"), line=11),
        Snippet("clamped", NET.format("x = self.last(x).relu()", "x / torch.sum(x, 1, keepdim=True)", "model(x).clamp(min=1e-7).log()"), line=11),
        Snippet("as they are", NET.format("x = F.relu(self.last(x))", "torch.log(x)", "model(x)"), line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        logarithms = [op for _, op in heads(program, ("nll",), ("log",))]
        for op in (*logarithms, *_by_hand(program)):
            if op.input is None:
                continue
            value = _lifted(op.input)
            while isinstance(value, Item):  # the probability of the true class
                value = resolved(value.base)
            for last in ends_in(_share(value) or value, _CUT):
                if ends_in(last.input, LINEAR_MAPS, PLAIN) and id(last.node) not in seen:
                    seen.add(id(last.node))
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
