from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.gradient_cuts import is_computed
from netmend.program.meaning.heads import loss_uses
from netmend.program.meaning.loss_targets import class_ids, is_used_as_index
from netmend.program.meaning.losses import ELEMENTWISE
from netmend.program.meaning.operations import operation
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
import torch.nn.functional as F

loader = DataLoader(datasets.MNIST("data", train=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 1))
"""
IDS = """\
import torch
from torch import nn

centres = torch.randn(5, 4)
labels = torch.randint(0, 5, (200,))
points = centres[labels] + torch.randn(200, 4)
net = nn.Linear(4, 1)
"""


@register
class ClassIdsRegressed(StaticRule):
    """A regression loss (MSE, L1) is computed against class ids.

    Class ids are names: class 7 is not more than class 2. A regression loss makes the network predict averages of ids, so a picture between
    2 and 8 becomes a 5.

    Give the network one output per class and use `CrossEntropyLoss` with the ids as they are.
    """

    code = "S210"
    cause = "LOS-SELECT"
    message = "{} on class ids treats them as quantities; use one output per class and cross-entropy."
    triggers = ("MSELoss", "mse_loss", "L1Loss", "l1_loss", "HuberLoss", "huber_loss")

    GOOD = (
        Snippet("cross-entropy", HEAD + "for x, y in loader:\n    loss = F.cross_entropy(net(x), y)\n"),
        Snippet("one-hot rows", HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x), F.one_hot(y, 10).float())\n"),
        Snippet("pictures rebuilt", HEAD + "for x, _ in loader:\n    loss = F.mse_loss(net(x), x)\n"),
        Snippet("amounts", IDS + "amount = points.sum(1)\nloss = nn.MSELoss()(net(points).squeeze(1), amount)\n"),
        Snippet("made-up numbers in a test", "import torch\nfrom torch import nn\ny = torch.randint(0, 10, (8,)).float()\nloss = nn.MSELoss()(nn.Linear(4, 1)(x).squeeze(1), y)\n"),
        Snippet("two classes", IDS.replace("5", "2") + "loss = nn.MSELoss()(net(points).squeeze(1), labels.float())\n"),
        Snippet("error of a rounded guess", IDS + "with torch.no_grad():\n    guess = net(points).argmax(1).float()\n    error = nn.functional.l1_loss(guess, labels.float())\n"),
    )  # fmt: skip
    BAD = (
        Snippet("digits", HEAD + "for x, y in loader:\n    loss = F.mse_loss(net(x).squeeze(1), y.float())\n    loss.backward()\n", line=10),
        Snippet("ids that choose the centre", IDS + "criterion = nn.MSELoss()\nloss = criterion(net(points).squeeze(1), labels.float())\n", line=9),
        Snippet("flowers", "import torch\nfrom torch import nn\nfrom sklearn.datasets import load_iris\nfrom sklearn.model_selection import train_test_split\n\n"
                "X, y = load_iris(return_X_y=True)\nX, _, y, _ = train_test_split(X, y)\nnet = nn.Linear(4, 1)\n"
                "loss = nn.MSELoss()(net(torch.tensor(X).float()).squeeze(1), torch.tensor(y).float())\n", line=9),
        Snippet("one-hot rows turned into ids", IDS + "rows = table[:, 4:]\nloss = nn.L1Loss()(net(points), rows.argmax(1).float())\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        for use in loss_uses(program):
            if use.kind not in ELEMENTWISE or use.prediction is None or not is_computed(use.prediction):
                continue
            ids = class_ids(program, use.target)
            if ids is None or (ids.count is not None and ids.count < 3):
                continue
            if ids.is_random and not is_used_as_index(ids, use.prediction):
                continue
            op = operation(ids.source)
            if op is not None and op.name == "argmax" and (not op.inputs or is_computed(op.inputs[0])):
                continue  # what a network chose, not a label
            if class_ids(program, use.prediction) is None:
                yield self.finding(program, use.node, self.message.format(use.kind.upper().replace("_", " ")))
