"""Losses that want probabilities or their logarithms, and are given something else."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH_F
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.losses import heads, loss_uses, made_by
from netmend.program.meaning.operations import LAYOUT, LINEAR_MAPS, Op
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

BINARY_HEAD = f"""{TORCH_F}
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.BCELoss()
"""
MODEL = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)
"""
# Operations whose results leave 0…1.
_UNBOUNDED = LINEAR_MAPS | {
    "batchnorm1d", "batchnorm2d", "batchnorm3d", "layernorm", "tanh", "relu", "leaky_relu", "elu", "gelu", "selu", "silu",
    "log_softmax", "log_sigmoid", "softplus",
}  # fmt: skip
_THROUGH = LAYOUT | {"clamp", "dropout"}


class BinaryLossOnScores(StaticRule, code="S206", cause="ACT-OUT-MISSING"):
    """BCELoss is given raw scores: no sigmoid stands between the last layer and the loss.

    `BCELoss` takes logarithms of its input and needs probabilities. Scores outside 0…1 stop the program with an error; clamped into
    0…1 they have no gradient where they were cut off, and training stands still.

    Use `BCEWithLogitsLoss`, which applies sigmoid itself, or put a sigmoid behind the last layer.
    """

    message = "BCELoss gets the raw output of {}, not probabilities; use BCEWithLogitsLoss or apply sigmoid."
    triggers = ("BCELoss", "binary_cross_entropy(")

    GOOD = (
        Snippet("sigmoid in between", BINARY_HEAD + "loss = criterion(torch.sigmoid(net(x)), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer last", BINARY_HEAD + "loss = criterion(net(x), y)\n", line=7),
        Snippet("scores clamped", BINARY_HEAD + "p = net(x).squeeze(1).clamp(1e-4, 1 - 1e-4)\nloss = F.binary_cross_entropy(p, y)\n", line=8),
        Snippet("model in another file", "import torch\nfrom torch import nn\nfrom model import Net\n\nclass Trainer:\n    def __init__(self):\n"
                "        self.net = Net()\n        self.bce = nn.BCELoss()\n\n    def step(self, x, y):\n        loss = self.bce(self.net(x), y)\n"
                "        loss.backward()\n\nTrainer().step(x, y)\n", line=11, files={"model.py": MODEL}),
        Snippet("tanh last", BINARY_HEAD + "net = nn.Sequential(nn.Linear(4, 1), nn.Tanh())\nloss = criterion(net(x), y)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("bce",), _UNBOUNDED, _THROUGH):
            yield self.finding(
                program, use.node, self.message.format(_title(op)), see=[("the network ends here", op.node)]
            )


def _title(op: Op) -> str:
    return (
        "a convolution"
        if op.name.startswith("conv")
        else "a linear layer"
        if op.name in LINEAR_MAPS
        else op.name
    )


LIKELIHOOD_HEAD = f"""{TORCH_F}
net = nn.Linear(4, 3)
nll = nn.NLLLoss()
"""


class LikelihoodOfProbabilities(StaticRule, code="S207", cause="LOS-CALC"):
    """NLLLoss is given probabilities (softmax or sigmoid), but expects their logarithms.

    The loss then is minus the probability itself: it starts below zero, cannot pass -1, and its gradient vanishes for the samples that are
    most wrong.

    Use log_softmax before `NLLLoss`, or `CrossEntropyLoss` on raw scores.
    """

    message = "NLLLoss gets {}, but needs log-probabilities; use log_softmax, or cross-entropy on raw logits."
    triggers = ("NLLLoss", "nll_loss")

    GOOD = (
        Snippet("log-softmax", LIKELIHOOD_HEAD + "loss = nll(F.log_softmax(net(x), dim=1), y)\n"),
    )  # fmt: skip
    BAD = (
        mended("softmax layer last", LIKELIHOOD_HEAD + "model = nn.Sequential(net, nn.⟨Softmax → LogSoftmax⟩(dim=1))\nloss = nll(model(x), y)\n"),
        mended("as a function", LIKELIHOOD_HEAD + "loss = F.nll_loss(F.⟨softmax → log_softmax⟩(net(x), dim=-1), y)\n"),
        mended("rows picked in a graph network", LIKELIHOOD_HEAD + "out = net(data.x).⟨softmax → log_softmax⟩(dim=1)\nloss = nll(out[data.train_mask], data.y[data.train_mask])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("nll",), ("softmax", "sigmoid")):
            title = "softmax probabilities" if op.name == "softmax" else "sigmoid outputs"
            yield self.finding(program, op.node, self.message.format(title), fix=logarithmic(program, op))


def logarithmic(program: Program, op: Op) -> Fix | None:
    """Write log_softmax in the place of softmax."""
    node = op.value.node
    callee = node.func if isinstance(node, ast.Call) else None
    if not isinstance(callee, ast.Attribute):
        return None
    name = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}.get(callee.attr)
    if name is None:
        return None
    before = program.source(callee)[: -len(callee.attr)]
    return Fix("Use log_softmax", replace(program, callee, f"{before}{name}"))


SCORES_HEAD = f"""{TORCH_F}
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
nll = nn.NLLLoss()
"""
_SCORES = LINEAR_MAPS | {"relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "batchnorm1d", "batchnorm2d"}


class LikelihoodOfScores(StaticRule, code="S208", cause="LYR-SOFTMAX-MISSING"):
    """NLLLoss is given raw scores: no log_softmax stands between the last layer and the loss.

    `NLLLoss` only picks minus the score of the right class. Without log_softmax nothing holds the scores together: the loss falls without
    end while all classes grow alike.

    Use `CrossEntropyLoss` on the raw scores, or apply log_softmax before `NLLLoss`.
    """

    message = "NLLLoss gets raw scores; use cross-entropy, or apply log_softmax before it."
    triggers = ("NLLLoss", "nll_loss")

    GOOD = (
        Snippet("log-softmax in between", SCORES_HEAD + "loss = nll(F.log_softmax(net(x), dim=1), y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("linear layer last", SCORES_HEAD + "loss = nll(net(x), y)\n", line=7),
        Snippet("as a function in a loop", SCORES_HEAD + "def train(model, loader):\n    for x, y in loader:\n        loss = F.nll_loss(model(x), y)\n"
                "        loss.backward()\n\ntrain(net, loader)\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use, op in heads(program, ("nll",), _SCORES, LAYOUT | {"dropout"}):
            yield self.finding(program, use.node, see=[("the network ends here", op.node)])


DIVERGENCE_HEAD = f"""{TORCH_F}
student, teacher = nn.Linear(4, 3), nn.Linear(4, 3)
soft = F.softmax(teacher(x), dim=1).detach()
"""


class DivergenceOfProbabilities(StaticRule, code="S220", cause="LOS-CALC"):
    """kl_div is given probabilities or raw scores as its first argument, but expects log-probabilities.

    `kl_div(input, target)` computes `target * (log(target) - input)`. With probabilities the result is no divergence: it can be negative, and
    minimising it does not bring the two distributions together.

    Give log_softmax of the student first, softmax of the teacher second.
    """

    message = "kl_div needs log-probabilities as its first argument, this is {}; use log_softmax."
    triggers = ("KLDivLoss", "kl_div")

    GOOD = (
        Snippet("log-softmax first", DIVERGENCE_HEAD + "loss = F.kl_div(F.log_softmax(student(x), dim=1), soft, reduction='batchmean')\n"),
    )  # fmt: skip
    BAD = (
        mended("softmax first", DIVERGENCE_HEAD + "loss = F.kl_div(F.⟨softmax → log_softmax⟩(student(x), dim=1), soft, reduction='batchmean')\n"),
        Snippet("raw scores", DIVERGENCE_HEAD + "criterion = nn.KLDivLoss(reduction='batchmean')\nloss = criterion(student(x), soft)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for _, op in heads(program, ("kl_div",), ("softmax", "sigmoid")):
            yield self.finding(
                program, op.node, self.message.format(f"{op.name} output"), fix=logarithmic(program, op)
            )
        for use, _ in heads(program, ("kl_div",), LINEAR_MAPS):
            yield self.finding(program, use.node, self.message.format("a raw score"))


AVERAGE_HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nlog_p = F.log_softmax(scores, dim=1)\n"


class DivergenceAveragedOverElements(StaticRule, code="S221", cause="LOS-CALC", advisory=True):
    """kl_div is reduced with "mean", which divides by the number of classes too.

    The divergence of a sample is the sum over its classes. `reduction="mean"` (the default) divides by batch size times classes, so the value
    is no Kullback-Leibler divergence and its weight beside other losses changes with the number of classes.

    Use `reduction="batchmean"`.
    """

    message = 'kl_div with reduction="mean" also divides by the number of classes; use reduction="batchmean".'
    triggers = ("KLDivLoss", "kl_div")

    GOOD = (
        Snippet("batchmean", AVERAGE_HEAD + "loss = F.kl_div(log_p, q, reduction='batchmean')\n"),
        Snippet("sum over the batch", AVERAGE_HEAD + "loss = nn.KLDivLoss(reduction='sum')(log_p, q) / len(q)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("default", AVERAGE_HEAD + "loss = F.kl_div(log_p, q)\n", line=6),
        Snippet("asked for", AVERAGE_HEAD + "criterion = nn.KLDivLoss(reduction='mean')\nloss = criterion(log_p, q)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            if use.kind != "kl_div":
                continue
            holders = made_by(use) or (use.call,)
            old = ("size_average", "reduce")
            if all(
                not holder.open
                and len(holder.args) <= (0 if holder is not use.call else 2)
                and not any(name in holder.keywords for name in old)
                and ("reduction" not in holder.keywords or constant(holder.keywords["reduction"]) == "mean")
                for holder in holders
            ):
                yield self.finding(program, use.node)
