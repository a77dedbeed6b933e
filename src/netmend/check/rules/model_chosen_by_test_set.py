from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import Branch
from netmend.program.engine.program import Program
from netmend.program.engine.values import Element, Operation, Value, resolved
from netmend.program.meaning.loaders_of_models import dataset_of, loader_made, split_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.training import rounds
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

def load(flag):
    return DataLoader(datasets.MNIST("data", train=flag, transform=transforms.ToTensor()), batch_size=64, shuffle=flag)

train_loader, test_loader = load(True), load(False)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best = 0
for epoch in range(9):
    for x, y in train_loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    hits = 0
    with torch.no_grad():
        for x, y in {0}:
            hits += (net(x).argmax(1) == y).sum().item()
"""


@register
class ModelChosenByTestSet(StaticRule):
    """The best checkpoint is chosen by the result on the test set.

    Picking the best of many epochs by the test result makes that result too good: it is no longer a test but a part of training.

    Split a validation part off the training set, choose by it, and use the test set once at the end.
    """

    code = "S602"
    cause = "VAL-TEST-LEAK"
    message = "The checkpoint is chosen by the test set; choose by a validation part of the training data."
    advisory = True
    triggers = ("train=False", "split=", "load(False)")

    GOOD = (
        Snippet(
            "chosen by training data",
            HEAD.format("train_loader")
            + "    if hits > best:\n        best = hits\n        torch.save(net.state_dict(), 'best.pt')\n",
        ),
        Snippet(
            "only reported",
            HEAD.format("test_loader") + "    if hits > best:\n        best = hits\n    print(best)\n",
        ),
        Snippet("always saved", HEAD.format("test_loader") + "    torch.save(net.state_dict(), 'last.pt')\n"),
    )
    BAD = (
        Snippet("saved if better", HEAD.format("test_loader") + "    if hits > best:\n        best = hits\n        torch.save(net.state_dict(), 'best.pt')\n", line=22),
        Snippet("kept if better", HEAD.format("test_loader") + "    accuracy = hits / len(test_loader.dataset)\n    if accuracy > best:\n"
                "        best, state = accuracy, {k: v.clone() for k, v in net.state_dict().items()}\n", line=23),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        loops = [
            loop for turn in rounds(program) for loop in (turn.loop, *(part for part in turn.loop.around()))
        ]
        around = {id(loop) for loop in loops}
        for part in program.parts:
            if (
                not isinstance(part, Branch)
                or part.test is None
                or not any(id(outer) in around for outer in part.around())
            ):
                continue
            if not isinstance(part.test, Operation) or not _from_test(part.test) or not part.blocks:
                continue
            if any(
                event.call is not None and event.call.method == "state_dict"
                for event in part.blocks[0].events()
            ):
                yield self.finding(program, part.node)


def _from_test(value: Value) -> bool:
    for part in walk(value):
        if isinstance(part, Element):
            loader = loader_made(resolved(part.iterable))
            if loader is not None and split_of(dataset_of(loader)) == "test":
                return True
    return False
