from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, resolved
from netmend.program.meaning.loaders_of_models import image_set, loader_made, split_of
from netmend.vocabulary.finding import Finding

HEAD = "from torch.utils.data import DataLoader, Subset\nfrom torchvision import datasets, transforms as T\n\ntrain = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntrain_loader = DataLoader(train, 64, shuffle=True)\n"


@register
class TestSetIsTrainingSet(StaticRule):
    """What is called the test set is loaded with `train=True`.

    The network is tested on the images it was trained with; the result says nothing about new ones.

    Load it with `train=False` (or `split="test"`).
    """

    code = "S525"
    cause = "VAL-SPLIT"
    message = "This test set is the training set; load it with {}."
    triggers = ("test",)
    needs = "datasets"
    patterns = (r"(?i)test\w*\s*=\s*[\w.]*(?:MNIST|CIFAR|USPS|SVHN|DataLoader)",)

    GOOD = (
        Snippet("the test set", HEAD + "test = datasets.CIFAR10('d', train=False, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n"),
        Snippet("a held-out part", HEAD + "val = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\nval_loader = DataLoader(Subset(val, range(45000, 50000)), 64)\n"),
        Snippet("a part by a sampler", HEAD + "test = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64, sampler=held_out)\n"),
        Snippet("both for the whole", HEAD + "test = datasets.CIFAR10('d', train=flag, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("train=True", HEAD + "test = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n", line=6),
        Snippet("in a function", "import torch\nimport torchvision\n\ndef loaders():\n    train = torchvision.datasets.SVHN('d', split='train')\n    train_loader = torch.utils.data.DataLoader(train, batch_size=8, shuffle=True)\n"
                "    testset = torchvision.datasets.SVHN('d', split='train')\n    test_loader = torch.utils.data.DataLoader(testset, batch_size=8)\n    return train_loader, test_loader\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        loaders = [
            (event, loader_made(event.value))
            for event in program.events
            if event.kind == STORE and event.target is not None
        ]
        fed: list[Call] = []
        for event, loader in loaders:
            given = loader.argument("dataset", 0) if loader is not None and not loader.open else None
            data = resolved(given) if given is not None else None
            name = event.target.name.lower() if event.target is not None else ""
            if (
                loader is None
                or not isinstance(data, Call)
                or split_of(data) != "train"
                or "sampler" in loader.keywords
                or "batch_sampler" in loader.keywords
            ):
                continue
            if "train" in name and "test" not in name:
                fed.append(data)
            elif "test" in name and "train" not in name and data.node is not None:
                others = [other for other in fed if image_set(other) == image_set(data) and other is not data]
                if others:
                    wanted = 'split="test"' if "split" in data.keywords else "train=False"
                    yield self.finding(program, data.node, self.message.format(wanted))
