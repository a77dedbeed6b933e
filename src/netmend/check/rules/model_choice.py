"""The model that is kept, chosen by the test set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import Branch, Event, Part
from netmend.program.engine.program import Program
from netmend.program.engine.values import Element, Operation, Param, Value, resolved
from netmend.program.meaning.loaders import dataset_of, loader_made, split_of
from netmend.program.meaning.operations import walk
from netmend.program.meaning.scores import is_score
from netmend.program.meaning.training import rounds
from netmend.program.text.queries import names_in

CHOSEN_HEAD = """\
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


class ModelChosenByTestSet(StaticRule, code="S602", cause="VAL-TEST-LEAK", advisory=True):
    """The best checkpoint is chosen by the result on the test set.

    Picking the best of many epochs by the test result makes that result too good: it is no longer a test but a part of training.

    Split a validation part off the training set, choose by it, and use the test set once at the end.
    """

    message = "The checkpoint is chosen by the test set; choose by a validation part of the training data."
    triggers = ("train=False", "split=", "load(False)")

    GOOD = (
        Snippet(
            "chosen by training data",
            CHOSEN_HEAD.format("train_loader")
            + "    if hits > best:\n        best = hits\n        torch.save(net.state_dict(), 'best.pt')\n",
        ),
        Snippet(
            "only reported",
            CHOSEN_HEAD.format("test_loader") + "    if hits > best:\n        best = hits\n    print(best)\n",
        ),
    )
    BAD = (
        Snippet("saved if better", CHOSEN_HEAD.format("test_loader") + "    if hits > best:\n        best = hits\n        torch.save(net.state_dict(), 'best.pt')\n", line=22),
        Snippet("kept if better", CHOSEN_HEAD.format("test_loader") + "    accuracy = hits / len(test_loader.dataset)\n    if accuracy > best:\n"
                "        best, state = accuracy, {k: v.clone() for k, v in net.state_dict().items()}\n", line=23),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        loops = [
            loop for turn in rounds(program) for loop in (turn.loop, *(part for part in turn.loop.around()))
        ]
        around = {id(loop) for loop in loops}
        for part in program.parts:
            if not isinstance(part, Branch) or part.test is None:
                continue
            if not any(id(outer) in around for outer in part.around()):
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


VALIDATION_HEAD = """\
import copy
import torch
from torch import nn

def accuracy(model, loader):
    with torch.no_grad():
        parts = [(model(x).argmax(1) == y).float().mean().item() for x, y in loader]
    return sum(parts) / len(parts)

def fit(model, train_loader, {0}, epochs=50):
    opt = torch.optim.Adam(model.parameters())
    best = 0.0
    for epoch in range(epochs):
        for x, y in train_loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        score = accuracy(model, {1})
"""
PARTS = """\
import copy
import torch
from sklearn.metrics import f1_score
x_train, y_train, x_val, y_val, x_test, y_test = torch.load("parts.pt")
net, best = torch.nn.Linear(8, 2), 0.0
opt = torch.optim.Adam(net.parameters())
for epoch in range(50):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x_train), y_train).backward()
    opt.step()
"""
SCORES = "print(f1_score(y_val, net(x_val).argmax(1)), f1_score(y_test, net(x_test).argmax(1)))\n"
KEEP = "        if score > best:\n            best, state = score, copy.deepcopy(model.state_dict())\n"
SAVE = "        if score > best:\n            best = score\n            torch.save(model.state_dict(), 'best.pt')\n"
_TEST = re.compile(r"(^|_)([xy]?te|[xy]?test)(_|$|loader|set|data)", re.IGNORECASE)
_VALIDATION = re.compile(
    r"(^|_)([xy]?val|[xy]?va|valid|validation|dev|eval)(_|$|loader|set|data)", re.IGNORECASE
)


class ChosenByTestNotValidation(StaticRule, code="S616", cause="VAL-TEST-LEAK"):
    """The best epoch is chosen by the test set although the function is given a validation set as well.

    Choosing the best of many epochs by the test result makes that result too good. The validation set is there for just this and
    is left unused.

    Choose by the validation set, and look at the test set once, at the end.
    """

    message = "The best state is chosen by {0}, although {1} is available; choose by {1} and keep the test set for the end."
    triggers = (
        "test_loader",
        "test_set",
        "testloader",
        "test_data",
        "test_dl",
        "y_test",
        "y_te",
        "yte",
        "test_y",
    )
    needs = "state_dict"
    patterns = (r"\.backward\(",)

    GOOD = (
        Snippet("chosen by validation", VALIDATION_HEAD.format("val_loader, test_loader", "val_loader") + KEEP + "    return accuracy(model, test_loader)\n"),
        Snippet("arrays, by validation", PARTS + "    score = f1_score(y_val, net(x_val).argmax(1))\n" + KEEP.replace("        if", "    if").replace("            best", "        best").replace("model", "net") + SCORES),
        Snippet("no validation set", VALIDATION_HEAD.format("test_loader", "test_loader") + KEEP),
    )  # fmt: skip
    BAD = (
        Snippet("kept", VALIDATION_HEAD.format("val_loader, test_loader", "test_loader") + KEEP, line=19),
        Snippet("arrays", PARTS + "    score = f1_score(y_test, net(x_test).argmax(1))\n" + KEEP.replace("        if", "    if").replace("            best", "        best").replace("model", "net") + SCORES, line=12),
        Snippet("saved", VALIDATION_HEAD.format("valid_loader, test_loader", "test_loader") + SAVE, line=19),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        around = {id(part): part for turn in rounds(program) for part in (turn.loop, *turn.loop.around())}
        for part in program.parts:
            if not isinstance(part, Branch) or not isinstance(part.test, Operation) or not part.blocks:
                continue
            if not any(id(outer) in around for outer in part.around()) or not _keeps(part.blocks[0].events()):
                continue
            sources = _sources(part.test)
            names = {source.name for source in sources} or _scored_names(part.test)
            if not names or not any(map(_TEST.search, names)) or any(map(_VALIDATION.search, names)):
                continue
            if sources and not all(map(_TEST.search, names)):
                continue
            names = {name for name in names if _TEST.search(name)}
            other = _validation(program, part) if sources else _other_part(program)
            if other:
                yield self.finding(program, part.node, self.message.format(min(names), other))


def _keeps(events: Iterator[Event]) -> bool:
    return any(event.call is not None and event.call.method == "state_dict" for event in events)


def _sources(value: Value) -> list[Param]:
    """Parameters whose batches decide a test; the training data behind the weights is no part of the value."""
    found = []
    for part in walk(value):
        source = resolved(part.iterable) if isinstance(part, Element) else None
        if isinstance(source, Param) and (_TEST.search(source.name) or _VALIDATION.search(source.name)):
            found.append(source)
    return found


def _scored_names(test: Operation) -> set[str]:
    """The names in the metrics and comparisons that a test is computed from: `f1_score(y_test, …)`."""
    return {
        name
        for part in walk(test)
        if part is not test and part.node is not None and is_score(part)
        for name in names_in(part.node)
    }


def _other_part(program: Program) -> str:
    """The name of a validation part that the program keeps and scores as well."""
    scored = {
        name
        for event in program.calls
        for part in (event.call, *event.call.args)
        if part.node is not None and is_score(part)
        for name in names_in(part.node)
    }
    return next((name for name in sorted(scored) if _VALIDATION.search(name) and not _TEST.search(name)), "")


def _validation(program: Program, part: Part) -> str:
    """The name of a validation set among the parameters of the function."""
    function = program.entry_of(part).function
    if function is None:
        return ""
    arguments = function.definition.args
    names = [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]
    return next((name for name in names if _VALIDATION.search(name) and not _TEST.search(name)), "")
