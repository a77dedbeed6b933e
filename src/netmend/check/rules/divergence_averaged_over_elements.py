from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.heads import loss_uses, made_by
from netmend.vocabulary.finding import Finding

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\nlog_p = F.log_softmax(scores, dim=1)\n"


@register
class DivergenceAveragedOverElements(StaticRule):
    """kl_div is reduced with "mean", which divides by the number of classes too.

    The divergence of a sample is the sum over its classes. `reduction="mean"` (the default) divides by batch size times classes, so the value
    is no Kullback-Leibler divergence and its weight beside other losses changes with the number of classes.

    Use `reduction="batchmean"`.
    """

    code = "S221"
    cause = "LOS-CALC"
    message = 'kl_div with reduction="mean" also divides by the number of classes; use reduction="batchmean".'
    advisory = True
    triggers = ("KLDivLoss", "kl_div")

    GOOD = (
        Snippet("batchmean", HEAD + "loss = F.kl_div(log_p, q, reduction='batchmean')\n"),
        Snippet("sum over the batch", HEAD + "loss = nn.KLDivLoss(reduction='sum')(log_p, q) / len(q)\n"),
        Snippet("reduction not known", HEAD + "def loss(q, how):\n    return F.kl_div(log_p, q, reduction=how)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("default", HEAD + "loss = F.kl_div(log_p, q)\n", line=6),
        Snippet("asked for", HEAD + "criterion = nn.KLDivLoss(reduction='mean')\nloss = criterion(log_p, q)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
