from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Const, constant
from netmend.program.meaning.averages import counts_hits
from netmend.program.meaning.losses import losses
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, WeightedRandomSampler

def test(net, loader):
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)

"""
_BETTER = (
    "f1",
    "precision",
    "recall",
    "auc",
    "auroc",
    "balanced",
    "confusion",
    "matthews",
    "average_precision",
    "kappa",
    "report",
    "iou",
    "dice",
    "jaccard",
)


@register
class AccuracyOnImbalance(StaticRule):
    """Classes are weighted because they are unbalanced, and accuracy is the only metric.

    With 97 % of one class, always saying that class gives 97 % accuracy. The number looks good while the rare class, the one that
    matters, is never found.

    Report recall and precision of the rare class, F1, balanced accuracy or the confusion matrix as well.
    """

    code = "S603"
    cause = "VAL-METRIC"
    message = (
        "The classes are unbalanced, so accuracy says little; report recall, F1 or a confusion matrix too."
    )
    advisory = True
    triggers = ("weight=", "pos_weight", "WeightedRandomSampler")

    GOOD = (
        Snippet("no weights", HEAD + "loss = nn.CrossEntropyLoss()(net(x), y)\nprint(test(net, loader))\n"),
        Snippet("recall is reported too", "from sklearn.metrics import recall_score\n" + HEAD + "loss = nn.CrossEntropyLoss(weight=w)(net(x), y)\n"
                "print(test(net, loader), recall_score(a, b))\n"),
        Snippet("weights without accuracy", HEAD.replace("==", "-") + "loss = nn.CrossEntropyLoss(weight=w)(net(x), y)\nprint(test(net, loader))\n"),
    )  # fmt: skip
    BAD = (
        Snippet(
            "weighted loss",
            HEAD
            + "criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.1, 0.9]))\nloss = criterion(net(x), y)\nprint(test(net, loader))\n",
            line=9,
        ),
        Snippet(
            "weighted draw",
            HEAD
            + "loader = DataLoader(data, sampler=WeightedRandomSampler(w, 100))\nprint(test(net, loader))\n",
            line=9,
        ),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        if not _is_unbalanced(program):
            return
        found = None
        for event in program.calls:
            call = event.call
            if call is None:
                continue
            name = (call.qualified or call.method).lower()
            if any(word in name for word in _BETTER):
                return
            if found is None and call.method == "item" and counts_hits(call):
                found = event
        if found is not None:
            yield self.finding(program, found.node)


def _is_unbalanced(program: Program) -> bool:
    if program.calls_of("torch.utils.data.WeightedRandomSampler"):
        return True
    for use in losses(program):
        weight = (
            use.option("weight")
            if use.kind == "cross_entropy"
            else use.option("pos_weight")
            if use.kind == "bce_logits"
            else None
        )
        if weight is not None and not (isinstance(weight, Const) and constant(weight) is None):
            return True
    return False
