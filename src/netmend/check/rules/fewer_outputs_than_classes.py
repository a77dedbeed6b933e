from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import constant
from netmend.program.meaning.heads import PLAIN, ends_in, loss_uses, where, width
from netmend.program.meaning.loss_targets import class_ids, one_hot
from netmend.program.meaning.operations import LINEAR_MAPS
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.datasets import CIFAR10
import torch.nn.functional as F
"""
_BETWEEN = PLAIN | {"softmax", "log_softmax", "sigmoid", "dropout"}


@register
class FewerOutputsThanClasses(StaticRule):
    """The network has fewer outputs than the data has classes.

    A label beyond the last output stops training with "Target … is out of bounds" (on a GPU with an unreadable assertion), as soon as such
    a label comes up.

    Give the last layer one output per class.
    """

    code = "S228"
    cause = "LYR-OUT-SHAPE"
    message = "The last layer has {} outputs, but the labels have {} classes; give it one output per class."
    triggers = ("CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss", "one_hot")

    GOOD = (
        Snippet("as many", HEAD + "labels = torch.randint(0, 10, (100,))\nloss = F.cross_entropy(nn.Linear(4, 10)(x), labels)\n"),
        Snippet("more outputs than classes", HEAD + "loader = DataLoader(CIFAR10('data'))\nnet = nn.Linear(3072, 1000)\nfor x, y in loader:\n    F.cross_entropy(net(x), y).backward()\n"),
        Snippet("scores reshaped", HEAD + "labels = torch.randint(0, 10, (100,))\nloss = F.cross_entropy(nn.Linear(4, 5)(x).view(-1, 10), labels)\n"),
        Snippet("labels regrouped", HEAD + "labels = torch.randint(0, 10, (100,)) // 5\nloss = F.cross_entropy(nn.Linear(4, 2)(x), labels)\n"),
        Snippet("labels changed by the dataset", HEAD + "loader = DataLoader(CIFAR10('data', target_transform=group))\nnet = nn.Linear(3072, 2)\n"
                "for x, y in loader:\n    F.cross_entropy(net(x), y).backward()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("random labels", HEAD + "labels = torch.randint(0, 10, (100,))\nhead = nn.Linear(4, 9)\nloss = F.cross_entropy(head(x), labels)\n", line=8),
        Snippet("known dataset in a class", HEAD + "class Net(nn.Module):\n    def __init__(self, classes=9):\n        super().__init__()\n        self.fc = nn.Linear(3072, classes)\n\n"
                "    def forward(self, x):\n        return self.fc(x.flatten(1))\n\nnet = Net()\ncriterion = nn.CrossEntropyLoss()\nfor x, y in DataLoader(CIFAR10('data'), batch_size=8):\n"
                "    criterion(net(x), y).backward()\n", line=17),
        Snippet("through a dataset of tensors", HEAD + "kind = torch.randint(0, 6, (90,))\nloader = DataLoader(TensorDataset(rows[:70], kind[:70]), batch_size=5)\n"
                "net = nn.Sequential(nn.Linear(7, 5), nn.LogSoftmax(1))\nfor x, y in loader:\n    F.nll_loss(net(x), y).backward()\n", line=10),
        Snippet("one-hot rows", HEAD + "rows = F.one_hot(y, 4).float()\nloss = F.mse_loss(nn.Linear(8, 3)(x), rows)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in loss_uses(program):
            ops = ends_in(use.prediction, LINEAR_MAPS, _BETWEEN)
            outputs = {width(op) for op in ops}
            count = outputs.pop() if len(outputs) == 1 else None
            if count is None:
                continue
            classes = None
            rows = one_hot(program, use.target)
            if rows is not None:
                classes = constant(rows[0].argument("num_classes", 1))
            elif use.kind in ("cross_entropy", "nll"):
                ids = class_ids(program, use.target)
                classes = ids.count if ids is not None else None
            if isinstance(classes, int) and 1 < count < classes:
                message = self.message.format(count, classes)
                yield self.finding(
                    program, use.node, message, related=where(program, "the last layer", ops[0].node)
                )
