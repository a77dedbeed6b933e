from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.meaning.loaders_of_models import dataset_of, evaluated, loader_made, split_of, trained
from netmend.vocabulary.finding import Finding, Related

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

train_set = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
test_set = datasets.MNIST("data", train=False, transform=transforms.ToTensor())
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(test_set, batch_size=64, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """\
for x, y in {0}:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
with torch.no_grad():
    for x, y in {1}:
        print(net(x).argmax(1) == y)
"""


@register
class TrainedOnTestData(StaticRule):
    """The training loop runs over the test set, while the training set is at hand or the test set is what it is judged by.

    The test result then shows what the network remembers, and most of the data is never used.

    Train on the loader of the training set.
    """

    code = "S613"
    cause = "VAL-SPLIT"
    message = "This loader of the test set feeds the training loop; train on the training set."
    triggers = ("train=False", 'split="test"', "split='test'")

    GOOD = (
        Snippet("trained on the training set", HEAD + LOOP.format("train_loader", "test_loader")),
        Snippet("an attack needs gradients, not steps", HEAD + "for x, y in test_loader:\n    x.requires_grad_()\n"
                "    nn.functional.cross_entropy(net(x), y).backward()\n    print(x.grad)\n"),
        Snippet("a quick trial with little data", "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\nfrom torchvision import datasets\n"
                "loader = DataLoader(datasets.MNIST('data', train=False))\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "for x, y in loader:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("loaders exchanged", HEAD + LOOP.format("test_loader", "train_loader"), line=9),
        Snippet("test set for both", HEAD + "def fit(batches):\n    for x, y in batches:\n        opt.zero_grad()\n        nn.functional.cross_entropy(net(x), y).backward()\n"
                "        opt.step()\n\nfit(test_loader)\nwith torch.no_grad():\n    for x, y in test_loader:\n        print(net(x).argmax(1) == y)\n", line=9),
        Snippet("both loaders read the test files", HEAD.replace("train=True", "train=False") + LOOP.format("train_loader", "test_loader"), line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        known = [
            event.call
            for event in program.calls
            if event.call is not None and split_of(event.call) == "train"
        ]
        fed = [(feeding, loader_made(feeding.loader)) for feeding in trained(program)]
        if any(loader is not None and split_of(dataset_of(loader)) == "train" for _, loader in fed):
            return  # adaptation to another domain uses both
        judged = [
            loader
            for evaluation in evaluated(program)
            if (loader := loader_made(evaluation.loader)) is not None
        ]
        others = (
            ("train", "test") if known else ("test",)
        )  # without a training set: on what it is tested with
        for feeding, loader in fed:
            if (
                loader is None
                or loader.node is None
                or id(loader) in seen
                or split_of(dataset_of(loader)) != "test"
            ):
                continue
            if judged and any(split_of(dataset_of(other)) in others for other in judged):
                seen.add(id(loader))
                place = program.place(feeding.backward.node)
                yield self.finding(
                    program,
                    loader.node,
                    related=(Related("The training step is here.", place.file, place.line, place.column),),
                )
