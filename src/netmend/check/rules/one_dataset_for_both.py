from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Const, Instance, Value
from netmend.program.meaning.arguments import is_for_evaluation
from netmend.program.meaning.loaders_of_models import dataset_of, evaluated, loader_made, split_of, trained
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, random_split
from torchvision import datasets, transforms

data = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
net = nn.Linear(784, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """\
for x, y in train_loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x.flatten(1)), y).backward()
    optimizer.step()
with torch.no_grad():
    for x, y in {0}:
        print((net(x.flatten(1)).argmax(1) == y).float().mean())
"""


@register
class OneDatasetForBoth(StaticRule):
    """The loader for validation or test reads the very dataset that the network is trained on.

    The result shows what the network remembers; overfitting stays invisible, and the model is chosen by the wrong number.

    Keep rows apart with `random_split` or a sampler, or load the test part (`train=False`).
    """

    code = "S521"
    cause = "VAL-SPLIT"
    message = "This evaluation loader reads the training dataset; give it separate data."
    triggers = ("DataLoader(",)

    GOOD = (
        Snippet("two datasets", HEAD + 'test = datasets.MNIST("data", train=False, transform=transforms.ToTensor())\n'
                "train_loader = DataLoader(data, batch_size=64, shuffle=True)\ntest_loader = DataLoader(test, batch_size=64)\n" + LOOP.format("test_loader")),
        Snippet("samplers keep them apart", HEAD + "train_loader = DataLoader(data, sampler=SubsetRandomSampler(a))\n"
                "val_loader = DataLoader(data, sampler=SubsetRandomSampler(b))\n" + LOOP.format("val_loader")),
        Snippet("training accuracy", HEAD + "train_loader = DataLoader(data, shuffle=True)\nprobe = DataLoader(data, batch_size=512)\n" + LOOP.format("probe")),
        Snippet("split", HEAD + "train, val = random_split(data, [50000, 10000])\ntrain_loader = DataLoader(train, shuffle=True)\n"
                "val_loader = DataLoader(val)\n" + LOOP.format("val_loader")),
    )  # fmt: skip
    BAD = (
        Snippet("the same object", HEAD + "train_loader = DataLoader(data, batch_size=64, shuffle=True)\nval_loader = DataLoader(data, batch_size=64)\n"
                + LOOP.format("val_loader"), line=10),
        Snippet("loaded twice", HEAD + "train_loader = DataLoader(data, batch_size=64, shuffle=True)\n"
                'again = datasets.MNIST("data", train=True, transform=transforms.ToTensor())\ntest_loader = DataLoader(again, batch_size=64)\n'
                + LOOP.format("test_loader"), line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        fed = [loader for feeding in trained(program) if (loader := loader_made(feeding.loader)) is not None]
        fed = [loader for loader in fed if not _is_picked(loader)]
        if not fed:
            return
        names = _names(program)
        seen: set[int] = set()
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if (
                loader is None
                or id(loader) in seen
                or _is_picked(loader)
                or any(loader is other for other in fed)
            ):
                continue
            stored = names.get(id(loader), [])
            if not stored or not all(is_for_evaluation(name) for name in stored):
                continue
            if (
                any(_is_same(dataset_of(loader), dataset_of(other)) for other in fed)
                and loader.node is not None
            ):
                seen.add(id(loader))
                yield self.finding(program, loader.node)


def _names(program: Program) -> dict[int, list[str]]:
    """The names that loaders are stored under."""
    found: dict[int, list[str]] = {}
    for event in program.events:
        if event.kind == STORE and event.target is not None and event.target.name:
            loader = loader_made(event.value)
            if loader is not None:
                found.setdefault(id(loader), []).append(event.target.name)
    return found


def _is_picked(loader: Call) -> bool:
    """Does a sampler choose rows, or may it?"""
    return loader.open or any(
        value is not None and not (isinstance(value, Const) and value.value is None)
        for value in (loader.argument("sampler", 3), loader.argument("batch_sampler", 4))
    )


def _is_same(one: Value | None, other: Value | None) -> bool:
    if not isinstance(one, Call | Instance) or one.node is None:
        return False
    if one is other:
        return True
    is_training = split_of(one) == "train" and split_of(other) == "train"
    return (
        is_training and isinstance(one, Call) and isinstance(other, Call) and one.qualified == other.qualified
    )
