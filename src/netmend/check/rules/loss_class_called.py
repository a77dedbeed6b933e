from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const
from netmend.program.text.edits import wrap
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 3)\n"
_CLASSES = (
    "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss",
    "MultiLabelSoftMarginLoss", "SoftMarginLoss", "PoissonNLLLoss", "MultiLabelMarginLoss",
)  # fmt: skip


@register
class LossClassCalled(StaticRule):
    """A loss class is called with prediction and target, as if it were the loss function.

    `nn.CrossEntropyLoss(out, y)` makes a loss object and takes the prediction for the class weights; nothing is computed, and the next
    line that needs a number fails.

    Make the object first and call it: `nn.CrossEntropyLoss()(out, y)`, or use the function `F.cross_entropy(out, y)`.
    """

    code = "S214"
    cause = "API-USAGE"
    message = (
        "nn.{0}(prediction, target) creates a loss and computes nothing; write nn.{0}()(prediction, target)."
    )
    triggers = tuple(f"{name}(" for name in _CLASSES)

    GOOD = (
        Snippet("made, then called", HEAD + "criterion = nn.CrossEntropyLoss()\nloss = criterion(net(x), y)\n"),
        Snippet("class weights", HEAD + "criterion = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 1.0]))\nloss = criterion(net(x), y)\n"),
        Snippet("old flags by position", HEAD + "criterion = nn.CrossEntropyLoss(weights, True)\nother = nn.MSELoss(False, False)\n"),
        Snippet("made and called at once", HEAD + "loss = nn.MSELoss()(net(x), y)\n"),
        Snippet("flags in variables", "from torch import nn\ndef make(weight, size_average):\n    return nn.CrossEntropyLoss(weight, size_average)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("cross-entropy", HEAD + "out = net(x)\nloss = nn.CrossEntropyLoss(out, y)\nloss.backward()\n", line=6,
                fixed=HEAD + "out = net(x)\nloss = nn.CrossEntropyLoss()(out, y)\nloss.backward()\n"),
        Snippet("in a function", "import torch\n\ndef train(model, loader):\n    for x, y in loader:\n        loss = torch.nn.MSELoss(model(x), y)\n"
                "        loss.backward()\n", line=5,
                fixed="import torch\n\ndef train(model, loader):\n    for x, y in loader:\n        loss = torch.nn.MSELoss()(model(x), y)\n"
                "        loss.backward()\n"),
        Snippet("used as a number", HEAD + "loss = nn.BCELoss(net(x).sigmoid(), target)\nprint(loss.item())\n", line=5,
                fixed=HEAD + "loss = nn.BCELoss()(net(x).sigmoid(), target)\nprint(loss.item())\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        made = {
            id(event.value): event
            for event in program.calls_of(*(f"torch.nn.{name}" for name in _CLASSES))
            if (call := event.call) is not None
            and len(call.args) >= 2
            and not isinstance(call.args[1], Const)
        }
        if not made:
            return
        # A number is wanted of it: that proves that the loss itself was meant.
        for event in program.methods_of("backward", "item", "detach", "mean", "cpu"):
            call = event.call
            loss = made.get(id(call.receiver)) if call is not None else None
            if loss is not None and isinstance(loss.node, ast.Call):
                name = getattr(loss.node.func, "attr", getattr(loss.node.func, "id", ""))
                edits = wrap(program, loss.node.func, "", "()")
                fix = Fix("Create the loss, then call it", edits) if edits else None
                yield self.finding(program, loss.node, self.message.format(name), fix=fix)
