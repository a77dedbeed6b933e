"""Test data that is training data, or the other way round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Value, resolved
from netmend.program.meaning.loaders import dataset_of, evaluated, image_set, loader_made, split_of, trained
from netmend.program.meaning.roles import LOADER, role
from netmend.program.meaning.statements import is_for_evaluation, is_for_training, written_name
from netmend.program.text.queries import names_in

EVALUATED_HEAD = """\
import torch

def evaluate(net, loader):
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).float().mean() for x, y in loader) / len(loader)

"""
FIT = """\
def fit(net, train_loader, val_loader, optimizer):
    for x, y in train_loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    {0}
"""
_METRICS = (
    "acc",
    "loss",
    "score",
    "f1",
    "err",
    "auc",
    "metric",
    "precision",
    "recall",
    "mse",
    "mae",
    "iou",
    "dice",
    "ppl",
    "perplexity",
)


class EvaluatedOnTrainingData(StaticRule, code="S601", cause="VAL-METRIC"):
    """A number that is called validation or test result is computed on the loader that the network is trained with.

    It shows how well the training data is remembered. Overfitting stays invisible, and the best epoch is chosen by the wrong
    number.

    Pass the validation or test loader.
    """

    message = "This validation or test result is computed on the training data; pass the other loader."
    triggers = (
        "val_acc",
        "val_loss",
        "test_acc",
        "test_loss",
        "valid_acc",
        "valid_loss",
        "val_score",
        "test_score",
        "val_f1",
        "test_f1",
        "test acc",
        "y_train",
        "Test acc",
        "test loss",
        "val acc",
        "validation acc",
    )
    patterns = (r"train\w*(?:loader|_dl|data)",)

    GOOD = (
        Snippet("its own loader", EVALUATED_HEAD + FIT.format("val_acc = evaluate(net, val_loader)")),
        Snippet(
            "printed of both",
            EVALUATED_HEAD
            + FIT.format(
                "print(f'train acc {evaluate(net, train_loader)} test acc {evaluate(net, val_loader)}')"
            ),
        ),
        Snippet(
            "trains and reports",
            EVALUATED_HEAD + FIT.format("val_loss = train_and_validate(net, train_loader)"),
        ),
    )
    BAD = (
        Snippet("wrong loader", EVALUATED_HEAD + FIT.format("val_acc = evaluate(net, train_loader)"), line=12),
        Snippet("printed", EVALUATED_HEAD + FIT.format("print(f'train accuracy {evaluate(net, train_loader):.3f}, test accuracy {evaluate(net, train_loader):.3f}')"), line=12),
        Snippet("arrays", "import torch\nfrom sklearn.metrics import accuracy_score\nwith torch.no_grad():\n    predicted = net(x_train).argmax(1)\nprint('Test accuracy:', accuracy_score(y_train, predicted))\n", line=5),
        Snippet("unpacked", EVALUATED_HEAD + FIT.format("test_loss, test_acc = evaluate(net, train_loader)\n    print(test_acc)"), line=12),
        Snippet("by object", "import torch\nfrom torch.utils.data import DataLoader\nfrom tools import evaluate\nnet = torch.nn.Linear(4, 2)\n"
                "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nbatches = DataLoader(data, batch_size=8, shuffle=True)\nfor x in batches:\n    opt.zero_grad()\n"
                "    net(x).sum().backward()\n    opt.step()\ntest_accuracy = evaluate(net, batches)\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        fed = {id(resolved(feeding.loader)) for feeding in trained(program)}
        for event in program.calls:
            call = event.call
            if call.node is None or call.open:
                continue
            above = program.parent(call.node)
            if not isinstance(above, ast.Assign) or above.value is not call.node or len(above.targets) != 1:
                continue
            if _is_result(above.targets[0]) and not _may_train(call) and _only_loader(call, fed):
                yield self.finding(program, event.node)
        calls = {id(event.node): event.call for event in program.calls}
        for event in program.calls_of("print"):
            for number in _printed(event.node):
                made = calls.get(id(number))
                if made is not None and (
                    _is_of_training_arrays(made) or (not _may_train(made) and _only_loader(made, fed))
                ):
                    yield self.finding(program, number)


def _printed(printing: ast.AST) -> Iterator[ast.expr]:
    """What is printed behind words that call it a validation or test result: `print(f"test accuracy {f(loader)}")`."""
    if not isinstance(printing, ast.Call):
        return
    given = [
        piece
        for argument in printing.args
        for piece in (argument.values if isinstance(argument, ast.JoinedStr) else [argument])
    ]
    for words, value in pairwise(given):
        number = value.value if isinstance(value, ast.FormattedValue) else value
        if (
            isinstance(words, ast.Constant)
            and isinstance(words.value, str)
            and _calls_it_a_result(words.value)
        ):
            yield number


def _is_of_training_arrays(call: Call) -> bool:
    """`accuracy_score(y_train, predicted)`: the truth is that of the training part."""
    if not call.qualified.startswith("sklearn.metrics.") or call.node is None:
        return False
    names = list(names_in(call.node))
    return any(map(is_for_training, names)) and not any(map(is_for_evaluation, names))


def _calls_it_a_result(text: str) -> bool:
    """`test accuracy `, `  val_loss=`: the last words before a number."""
    words = re.findall(r"[a-z0-9_]+", text.lower())[-3:]
    name = "_".join(words)
    return any(metric in name for metric in _METRICS) and is_for_evaluation(name)


def _is_result(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [written_name(part) for part in parts]
    are_metrics = bool(names) and all(any(metric in name.lower() for metric in _METRICS) for name in names)
    return are_metrics and any(map(is_for_evaluation, names)) and not any(map(is_for_training, names))


def _may_train(call: Call) -> bool:
    """Is the function called as if it did more than evaluate, or a class?"""
    name = written_name(call.node.func) if call.node is not None else ""
    return is_for_training(name) or "fit" in name.lower() or "run" in name.lower() or name[:1].isupper()


def _only_loader(call: Call, fed: set[int]) -> bool:
    """Is the one loader among the arguments a training loader?"""
    given: list[Value] = [*call.args, *call.keywords.values()]
    loaders = [resolved(value) for value in given if role(value) == LOADER]
    named = [
        part
        for part in (call.node.args if call.node is not None else ())
        if is_for_evaluation(written_name(part))
    ]
    return len(loaders) == 1 and id(loaders[0]) in fed and not named


TRAINED_HEAD = f"""{TORCH}\
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


class TrainedOnTestData(StaticRule, code="S613", cause="VAL-SPLIT"):
    """The training loop runs over the test set, while the training set is at hand or the test set is what it is judged by.

    The test result then shows what the network remembers, and most of the data is never used.

    Train on the loader of the training set.
    """

    message = "This loader of the test set feeds the training loop; train on the training set."
    triggers = ("train=False", 'split="test"', "split='test'")

    GOOD = (
        Snippet("trained on the training set", TRAINED_HEAD + LOOP.format("train_loader", "test_loader")),
        Snippet("a quick trial with little data", "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\nfrom torchvision import datasets\n"
                "loader = DataLoader(datasets.MNIST('data', train=False))\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "for x, y in loader:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("loaders exchanged", TRAINED_HEAD + LOOP.format("test_loader", "train_loader"), line=9),
        Snippet("test set for both", TRAINED_HEAD + "def fit(batches):\n    for x, y in batches:\n        opt.zero_grad()\n        nn.functional.cross_entropy(net(x), y).backward()\n"
                "        opt.step()\n\nfit(test_loader)\nwith torch.no_grad():\n    for x, y in test_loader:\n        print(net(x).argmax(1) == y)\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = [event.call for event in program.calls if split_of(event.call) == "train"]
        fed = [(feeding, loader_made(feeding.loader)) for feeding in trained(program)]
        if any(loader is not None and split_of(dataset_of(loader)) == "train" for _, loader in fed):
            return  # adaptation to another domain uses both
        judged = [
            loader
            for evaluation in evaluated(program)
            if (loader := loader_made(evaluation.loader)) is not None
        ]
        # without a training set: on what it is tested with
        others = ("train", "test") if known else ("test",)
        for feeding, loader in fed:
            if loader is None or split_of(dataset_of(loader)) != "test":
                continue
            if judged and any(split_of(dataset_of(other)) in others for other in judged):
                yield self.finding(
                    program, loader.node, see=[("The training step is here.", feeding.backward.node)]
                )


SAME_HEAD = "from torch.utils.data import DataLoader, Subset\nfrom torchvision import datasets, transforms as T\n\ntrain = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntrain_loader = DataLoader(train, 64, shuffle=True)\n"


class TestSetIsTrainingSet(StaticRule, code="S525", cause="VAL-SPLIT"):
    """What is called the test set is loaded with `train=True`.

    The network is tested on the images it was trained with; the result says nothing about new ones.

    Load it with `train=False` (or `split="test"`).
    """

    message = "This test set is the training set; load it with {}."
    triggers = ("test",)
    needs = "datasets"
    patterns = (r"(?i)test\w*\s*=\s*[\w.]*(?:MNIST|CIFAR|USPS|SVHN|DataLoader)",)

    GOOD = (
        Snippet("the test set", SAME_HEAD + "test = datasets.CIFAR10('d', train=False, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n"),
        Snippet("a part by a sampler", SAME_HEAD + "test = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64, sampler=held_out)\n"),
        Snippet("both for the whole", SAME_HEAD + "test = datasets.CIFAR10('d', train=flag, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("train=True", SAME_HEAD + "test = datasets.CIFAR10('d', train=True, transform=T.ToTensor())\ntest_loader = DataLoader(test, 64)\n", line=6),
        Snippet("in a function", "import torch\nimport torchvision\n\ndef loaders():\n    train = torchvision.datasets.SVHN('d', split='train')\n    train_loader = torch.utils.data.DataLoader(train, batch_size=8, shuffle=True)\n"
                "    testset = torchvision.datasets.SVHN('d', split='train')\n    test_loader = torch.utils.data.DataLoader(testset, batch_size=8)\n    return train_loader, test_loader\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        loaders = [
            (event, loader_made(event.value)) for event in program.events if isinstance(event, StoreEvent)
        ]
        fed: list[Call] = []
        for event, loader in loaders:
            given = loader.argument("dataset", 0) if loader is not None and not loader.open else None
            data = resolved(given)
            name = event.target.name.lower() if event.target is not None else ""
            if loader is None or not isinstance(data, Call) or split_of(data) != "train":
                continue
            if "sampler" in loader.keywords or "batch_sampler" in loader.keywords:
                continue
            if "train" in name and "test" not in name:
                fed.append(data)
            elif "test" in name and "train" not in name:
                others = [other for other in fed if image_set(other) == image_set(data) and other is not data]
                if others:
                    wanted = 'split="test"' if "split" in data.keywords else "train=False"
                    yield self.finding(program, data.node, self.message.format(wanted))
