from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Operation, Value, constant, resolved
from netmend.program.meaning.gradient_flow import lost
from netmend.program.meaning.operations import LAYOUT, operation, origins, walk
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
"""
_SOFTMAX = "The logarithm of softmax becomes -inf where it rounds to 0; use log_softmax on the raw scores."
_SIGMOID = "The logarithm of 1 - sigmoid becomes -inf from a score of 17 on; use logsigmoid or BCEWithLogits on the raw scores."
_REST = "The logarithm of 1 - softmax becomes -inf where a class is sure; keep it away from 0 with clamp(min=1e-7)."


@register
class LogOfSoftmax(StaticRule):
    """The loss takes the logarithm of a softmax, or of one minus a sigmoid, that was computed before.

    For scores that are clearly apart softmax and sigmoid round to exactly 0 (or 1): the logarithm is minus infinity, the loss infinite, the
    next gradient NaN. `1 - sigmoid` is 0 from a score of 17 on. Sigmoid itself gets to 0 only below -100 and is left alone.

    Use the joint functions, which stay exact: log_softmax, `F.logsigmoid`, cross-entropy or `BCEWithLogitsLoss` on raw scores.
    """

    code = "S225"
    cause = "LOS-CALC"
    message = _SOFTMAX
    triggers = (".backward(",)

    GOOD = (
        Snippet("jointly", HEAD + "loss = F.nll_loss(F.log_softmax(net(x), 1), y)\nloss.backward()\n"),
        Snippet("kept away from zero", HEAD + "p = net(x).softmax(1)\nloss = -(y * torch.log(p + 1e-8)).sum()\nloss.backward()\n"),
        Snippet("clamped", HEAD + "p = net(x).sigmoid().clamp(1e-6, 1 - 1e-6)\nloss = -torch.log(p).mean()\nloss.backward()\n"),
        Snippet("small scores only", HEAD + "loss = -torch.bmm(a, b).sigmoid().log().mean()\nloss.backward()\n"),
        Snippet("only shown", HEAD + "p = net(x).softmax(1)\nprint(-(p * p.log()).sum(1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax", HEAD + "p = torch.softmax(net(x), dim=1)\nloss = -(y * torch.log(p)).sum(1).mean()\nloss.backward()\n", line=7),
        Snippet("sigmoid and its complement", HEAD + "def bce(p, y):\n    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()\n\n"
                "for x, y in loader:\n    loss = bce(torch.sigmoid(net(x)).squeeze(1), y)\n    loss.backward()\n", line=7),
        Snippet("loss of a discriminator", HEAD + "critic = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())\nloss = torch.log(1 - critic(x)).mean()\nloss.backward()\n", line=7),
        Snippet("the other classes", HEAD + "p = net(x).softmax(1)\nloss = -(w * torch.log(1 - p)).sum()\nloss.backward()\n", line=7),
        Snippet("before the likelihood", HEAD + "for x, y in loader:\n    loss = F.nll_loss(torch.log(F.softmax(net(x), dim=1)), y)\n    loss.backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        lines: set[tuple[str, int]] = set()
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                for part in walk(loss):
                    op = operation(part) if isinstance(part, Call) and id(part) not in seen else None
                    seen.add(id(part))
                    if op is None or op.name != "log" or not op.inputs or op.layer is not None:
                        continue
                    message = _message(op.inputs[0])
                    place = program.place(op.node)
                    if message and (place.file, place.line) not in lines:
                        lines.add((place.file, place.line))
                        yield self.finding(program, op.node, message)


def _message(value: Value) -> str:
    """What is wrong with the logarithm of a value; empty unless it is a softmax, or one minus a softmax or sigmoid, on every path."""
    value, is_rest = resolved(value), False
    if isinstance(value, Operation) and value.operator == "-" and len(value.operands) == 2:
        first = resolved(value.operands[0])
        if not isinstance(first, Const) or constant(first) != 1:
            return ""
        value, is_rest = resolved(value.operands[1]), True
    names = {op.name if (op := operation(origin)) is not None else "" for origin in origins(value, LAYOUT)}
    if names == {"softmax"}:
        return _REST if is_rest else _SOFTMAX
    return _SIGMOID if is_rest and names == {"sigmoid"} else ""
