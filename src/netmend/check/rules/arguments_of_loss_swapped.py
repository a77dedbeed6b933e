from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.batches import is_from_loop
from netmend.program.meaning.gradient_flow import reach
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.loss_targets import class_ids
from netmend.program.meaning.losses import LossUse
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss()
"""
_KINDS = ("cross_entropy", "nll", "bce", "bce_logits")


@register
class ArgumentsOfLossSwapped(StaticRule):
    """The loss is called with the target first and the prediction second.

    Losses take `(prediction, target)`. Swapped, cross-entropy fails with a type or size error, and the binary losses run and compute
    something else: the logarithm is taken of the labels and no longer of the prediction.

    Write `loss(prediction, target)`.
    """

    code = "S211"
    cause = "API-USAGE"
    message = "The target comes first here; losses take (prediction, target)."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "BCELoss", "BCEWithLogitsLoss")

    GOOD = (
        Snippet("prediction first", HEAD + "for x, y in loader:\n    loss = criterion(net(x), y)\n"),
        Snippet("by keyword", HEAD + "for x, y in loader:\n    loss = F.cross_entropy(target=y, input=net(x))\n"),
        Snippet("two networks", HEAD + "for x, y in loader:\n    loss = F.binary_cross_entropy(net(x).sigmoid(), net(y).sigmoid())\n"),
        Snippet("parameters of unknown meaning", "import torch.nn.functional as F\ndef loss(a, b, model):\n    return F.cross_entropy(a, model(b))\n"),
        Snippet("a symmetric loss", HEAD + "for x, y in loader:\n    loss = F.mse_loss(y, net(x))\n"),
        Snippet("scores stored, labels from a teacher", HEAD + "for scores, x in loader:\n    loss = F.cross_entropy(scores, net(x).argmax(1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("in a loop", HEAD + "for x, y in loader:\n    loss = criterion(y, net(x))\n    loss.backward()\n", line=8,
                fixed=HEAD + "for x, y in loader:\n    loss = criterion(net(x), y)\n    loss.backward()\n"),
        Snippet("with a model that is not known", "import torch.nn.functional as F\n\ndef train(model, loader, optimizer):\n    for x, target in loader:\n        out = model(x)\n"
                "        loss = F.binary_cross_entropy(target.float(), out)\n        loss.backward()\n        optimizer.step()\n", line=6,
                fixed="import torch.nn.functional as F\n\ndef train(model, loader, optimizer):\n    for x, target in loader:\n        out = model(x)\n"
                "        loss = F.binary_cross_entropy(out, target.float())\n        loss.backward()\n        optimizer.step()\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in loss_uses(program):
            if (
                use.kind not in _KINDS
                or use.prediction is None
                or use.target is None
                or use.call.keywords.keys() & {"input", "target"}
            ):
                continue
            is_data = is_from_loop(use.prediction) or class_ids(program, use.prediction) is not None
            if is_data and not is_from_loop(use.target) and reach(program, use.target).open:
                yield self.finding(program, use.node, fix=_swapped(program, use))


def _swapped(program: Program, use: LossUse) -> Fix | None:
    node = use.call.node
    if (
        not isinstance(node, ast.Call)
        or len(node.args) < 2
        or any(isinstance(argument, ast.Starred) for argument in node.args)
    ):
        return None
    first, second = node.args[0], node.args[1]
    edits = (
        *replace(program, first, program.source(second)),
        *replace(program, second, program.source(first)),
    )
    return Fix("Swap prediction and target", edits) if len(edits) == 2 else None
