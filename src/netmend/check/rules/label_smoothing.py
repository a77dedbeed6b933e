"""Label smoothing."""

from __future__ import annotations

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, resolved
from netmend.program.meaning.losses import losses
from netmend.program.meaning.statements import argument_node
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

_HEAD = f"{TORCH_F}\nnet = nn.Linear(4, 3)\n"


class LabelsSmoothedAway(StaticRule, code="S240", cause="LOS-SMOOTH"):
    """Labels are smoothed so much that the true class keeps the smaller part of each target.

    `label_smoothing` is the share that is taken from the true class and spread over all classes. Above one half, the best answer is
    hardly surer of the true class than of any other.

    Smooth by about 0.1, or not at all.
    """

    message = "label_smoothing={0:g} leaves the true class less than half of its target; 0.1 is usual."
    triggers = ("label_smoothing",)

    GOOD = (
        Snippet("the usual share", _HEAD + "criterion = nn.CrossEntropyLoss(label_smoothing=0.1)\nloss = criterion(net(x), y)\n"),
        Snippet("half", _HEAD + "loss = F.cross_entropy(net(x), y, label_smoothing=0.5)\n"),
        Snippet("from the command line", _HEAD + "import sys\nloss = F.cross_entropy(net(x), y, label_smoothing=float(sys.argv[1]))\n"),
    )  # fmt: skip
    BAD = (
        mended("of the object", _HEAD + "criterion = nn.CrossEntropyLoss(label_smoothing=⟨0.9 → 0.1⟩)\nloss = criterion(net(x), y)\n"),
        Snippet("of the function, by a name", _HEAD + "SMOOTHING = 0.8\nloss = F.cross_entropy(net(x), y, label_smoothing=SMOOTHING)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in losses(program):
            value = use.option("label_smoothing")
            share = resolved(value)
            if not isinstance(share, Const) or not isinstance(share.value, int | float) or share.value <= 0.5:
                continue
            made = use.made if use.made is not None and use.made.node is not None else use.call
            node = argument_node(made.node, "label_smoothing") or made.node
            if node is None:
                continue
            literal = program.source(node) == repr(share.value)
            fix = Fix("Smooth labels by 0.1", replace(program, node, "0.1")) if literal else None
            yield self.finding(program, node, self.message.format(share.value), fix=fix)
