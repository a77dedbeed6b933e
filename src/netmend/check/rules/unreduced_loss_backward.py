from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Operation, Value, options, resolved
from netmend.program.meaning.heads import loss_uses, made_by, where
from netmend.program.meaning.losses import LossUse
from netmend.program.meaning.training import backward_calls
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss(reduction="none")
"""


@register
class UnreducedLossBackward(StaticRule):
    """backward() is called on a loss made with reduction="none", which has one value per sample.

    `backward()` without arguments needs a single number and stops with "grad can be implicitly created only for scalar outputs".

    Reduce it first: `loss.mean().backward()`, after weighting or masking it.
    """

    code = "S215"
    cause = "LOS-CALC"
    message = 'This loss has reduction="none", one value per sample; average it before backward(): loss.mean().backward().'
    triggers = ('reduction="none"', "reduction='none'", "reduce=False")

    GOOD = (
        Snippet("reduced", HEAD + "loss = criterion(net(x), y).mean()\nloss.backward()\n"),
        Snippet("masked and summed", HEAD + "loss = criterion(net(x), y) * mask\nloss.sum().backward()\n"),
        Snippet("gradient given", HEAD + "loss = criterion(net(x), y)\nloss.backward(torch.ones_like(loss))\n"),
        Snippet("reduced on one path", HEAD + "loss = criterion(net(x), y)\nif weights is None:\n    loss = loss.mean()\nelse:\n"
                "    loss = (loss * weights).sum()\nloss.backward()\n"),
        Snippet("reduction not known", "from torch import nn\ndef train(net, x, y, reduction):\n    nn.CrossEntropyLoss(reduction=reduction)(net(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("object", HEAD + "loss = criterion(net(x), y)\nloss.backward()\n", line=8),
        Snippet("function", HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x), y, reduction='none')\n    loss.backward()\n", line=9),
        Snippet("with a scaler and a factor", HEAD + "scaler = torch.amp.GradScaler()\nloss = criterion(net(x), y) / steps\nscaler.scale(loss).backward()\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        unreduced = {id(use.call): use for use in loss_uses(program) if _is_unreduced(use)}
        if not unreduced:
            return
        for event in backward_calls(program):
            call = event.call
            if call is None or call.args or "gradient" in call.keywords or call.open or call.receiver is None:
                continue
            uses = [_behind(option, unreduced) for option in options(resolved(call.receiver))]
            if uses and all(uses) and uses[0] is not None:
                related = where(program, "the loss is computed here", uses[0].node)
                yield self.finding(program, event.node, related=related)


def _is_unreduced(use: LossUse) -> bool:
    holders = made_by(use) or (use.call,)
    return all(
        constant(holder.keywords.get("reduction")) == "none"
        or constant(holder.keywords.get("reduce")) is False
        for holder in holders
    )


def constant(value: Value | None) -> object:
    return value.value if isinstance(value, Const) else None


def _behind(value: Value, unreduced: dict[int, LossUse]) -> LossUse | None:
    """The unreduced loss that a value is, up to a constant or named factor."""
    value = resolved(value)
    if isinstance(value, Call):
        if id(value) in unreduced:
            return unreduced[id(value)]
        if value.method == "scale" and len(value.args) == 1:
            return _behind(value.args[0], unreduced)
    if isinstance(value, Operation) and value.operator in ("*", "/", "+", "-") and len(value.operands) == 2:
        return _behind(value.operands[0], unreduced) or _behind(value.operands[1], unreduced)
    return None
