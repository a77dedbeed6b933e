from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.check.rules.likelihood_of_probabilities import logarithmic
from netmend.program.engine.program import Program
from netmend.program.meaning.heads import heads
from netmend.program.meaning.operations import LINEAR_MAPS
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

student, teacher = nn.Linear(4, 3), nn.Linear(4, 3)
soft = F.softmax(teacher(x), dim=1).detach()
"""


@register
class DivergenceOfProbabilities(StaticRule):
    """kl_div is given probabilities or raw scores as its first argument, but expects log-probabilities.

    `kl_div(input, target)` computes `target * (log(target) - input)`. With probabilities the result is no divergence: it can be negative, and
    minimising it does not bring the two distributions together.

    Give log_softmax of the student first, softmax of the teacher second.
    """

    code = "S220"
    cause = "LOS-CALC"
    message = "kl_div needs log-probabilities as its first argument, this is {}; use log_softmax."
    triggers = ("KLDivLoss", "kl_div")

    GOOD = (
        Snippet("log-softmax first", HEAD + "loss = F.kl_div(F.log_softmax(student(x), dim=1), soft, reduction='batchmean')\n"),
        Snippet("logarithm by hand", HEAD + "loss = nn.KLDivLoss(reduction='batchmean')(student(x).softmax(1).log(), soft)\n"),
        Snippet("both in logarithms", HEAD + "loss = F.kl_div(student(x).log_softmax(1), soft.log(), log_target=True)\n"),
        Snippet("input not known", "import torch.nn.functional as F\ndef loss(a, b):\n    return F.kl_div(a, F.softmax(b, -1))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("softmax first", HEAD + "loss = F.kl_div(F.softmax(student(x), dim=1), soft, reduction='batchmean')\n", line=7,
                fixed=HEAD + "loss = F.kl_div(F.log_softmax(student(x), dim=1), soft, reduction='batchmean')\n"),
        Snippet("raw scores", HEAD + "criterion = nn.KLDivLoss(reduction='batchmean')\nloss = criterion(student(x), soft)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for _, op in heads(program, ("kl_div",), ("softmax", "sigmoid")):
            yield self.finding(
                program, op.node, self.message.format(f"{op.name} output"), fix=logarithmic(program, op)
            )
        for use, _ in heads(program, ("kl_div",), LINEAR_MAPS):
            yield self.finding(program, use.node, self.message.format("a raw score"))
