"""Splitting data into training, validation and test."""

from __future__ import annotations

import ast

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Const,
    Function,
    Instance,
    Name,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import SPLIT, same_numbers, split_part
from netmend.program.meaning.loaders import dataset_of, evaluated, loader_made, split_of, trained
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels, is_for_training, written_name
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

SEED_HEAD = "import torch\nfrom sklearn.model_selection import train_test_split\nfrom torch.utils.data import random_split\n\n"


class SplitWithoutSeed(StaticRule, code="S512", cause="LOOP-SEED", advisory=True):
    """Data is split at random, and nothing fixes which rows land where.

    Each run evaluates on other rows, so two runs cannot be compared; a checkpoint that is loaded in a later run is tested on rows
    it was trained on.

    Give `random_state=0` to `train_test_split`, `generator=torch.Generator().manual_seed(0)` to `random_split`, or set a seed before.
    """

    message = "This split differs from run to run; fix it with a seed."
    triggers = ("train_test_split(", "random_split(")

    GOOD = (
        Snippet("seeded", SEED_HEAD + "a, b = train_test_split(x, random_state=0)\n"),
        Snippet(
            "a generator",
            SEED_HEAD + "a, b = random_split(data, [8, 2], generator=torch.Generator().manual_seed(1))\n",
        ),
        Snippet("seed set before", SEED_HEAD + "torch.manual_seed(1)\na, b = random_split(data, [8, 2])\n"),
    )
    BAD = (
        Snippet("scikit-learn", SEED_HEAD + "a, b = train_test_split(x, test_size=0.2)\n", line=5),
        Snippet("torch", SEED_HEAD + "def parts(data):\n    return random_split(data, [8, 2])\n", line=6),
    )

    def check(self, program: Program) -> Findings:
        seeds = [event.order for event in program.calls if _sets_seed(event.call.function)]
        first = min(seeds, default=None)
        for event in program.calls_of(SPLIT, "torch.utils.data.random_split"):
            call = event.call
            if call.open or {"random_state", "generator", "shuffle"} & set(call.keywords):
                continue
            if len(call.args) > 2 and call.qualified != SPLIT:
                continue
            if first is None or first > event.order:
                yield self.finding(program, event.node)


def _sets_seed(function: object) -> bool:
    function = resolved(function) if isinstance(function, Attribute | Function | Name) else None
    name = getattr(function, "qualified", "") or getattr(function, "name", "")
    return "seed" in name.lower() or "deterministic" in name.lower()


ORDER_HEAD = "import torch\nfrom sklearn.model_selection import train_test_split\n\n"


class SplitUnpackedInWrongOrder(StaticRule, code="S514", cause="VAL-SPLIT", preview=True):
    """The parts that `train_test_split` returns are stored under the wrong names.

    It returns both parts of the first array, then both parts of the second: inputs for training, inputs for test, labels for
    training, labels for test. In another order test inputs serve as labels, or the small part trains the network.

    Write `X_train, X_test, y_train, y_test = train_test_split(X, y)`.
    """

    message = "train_test_split(X, y) returns X_train, X_test, y_train, y_test in this order; these names do not match."
    triggers = ("train_test_split",)

    GOOD = (
        Snippet(
            "the right order", ORDER_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\n"
        ),
        Snippet("one array", ORDER_HEAD + "train, test = train_test_split(rows)\n"),
        Snippet("other names", ORDER_HEAD + "a, b, c, d = train_test_split(X, y)\n"),
        Snippet("labels first", ORDER_HEAD + "y_train, y_test, X_train, X_test = train_test_split(y, X)\n"),
    )
    BAD = (
        mended("pairs expected", ORDER_HEAD + "X_train, ⟨y_train, X_test → X_test, y_train⟩, y_test = train_test_split(X, y, test_size=0.2)\n"),
        mended("test first", ORDER_HEAD + "def load(x, y):\n    ⟨x_test, x_train, y_test, y_train → x_train, x_test, y_train, y_test⟩ = train_test_split(x, y)\n"
                "    return x_train, y_train\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(SPLIT):
            node = event.node
            above = program.parent(node)
            if not isinstance(node, ast.Call) or not isinstance(above, ast.Assign) or len(above.targets) != 1:
                continue
            target = above.targets[0]
            if len(node.args) != 2 or not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != 4:
                continue
            names = [written_name(part) for part in target.elts]
            if not all(names) or is_for_labels(written_name(node.args[0])):
                continue
            order = _order(names)
            if order is not None and order != [0, 1, 2, 3]:
                yield self.finding(program, target, fix=self._fix(program, target, order))

    def _fix(self, program: Program, target: ast.Tuple | ast.List, order: list[int]) -> Fix | None:
        texts = [program.source(target.elts[position]) for position in order]
        edits = [
            replace(program, part, text)
            for part, text in zip(target.elts, texts, strict=True)
            if program.source(part) != text
        ]
        return (
            Fix("Reorder the names", tuple(edit for group in edits for edit in group)) if all(edits) else None
        )


def _order(names: list[str]) -> list[int] | None:
    """Where inputs for training, inputs for test, labels for training, labels for test stand; None when unclear."""
    places: list[int] = []
    for labels in (False, True):
        for wanted in (is_for_training, is_for_evaluation):
            fitting = [
                index for index, name in enumerate(names) if wanted(name) and is_for_labels(name) == labels
            ]
            if len(fitting) != 1:
                return None
            places.append(fitting[0])
    return places


BOTH_HEAD = f"""{TORCH}\
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


class OneDatasetForBoth(StaticRule, code="S521", cause="VAL-SPLIT"):
    """The loader for validation or test reads the very dataset that the network is trained on.

    The result shows what the network remembers; overfitting stays invisible, and the model is chosen by the wrong number.

    Keep rows apart with `random_split` or a sampler, or load the test part (`train=False`).
    """

    message = "This evaluation loader reads the training dataset; give it separate data."
    triggers = ("DataLoader(",)

    GOOD = (
        Snippet("two datasets", BOTH_HEAD + 'test = datasets.MNIST("data", train=False, transform=transforms.ToTensor())\n'
                "train_loader = DataLoader(data, batch_size=64, shuffle=True)\ntest_loader = DataLoader(test, batch_size=64)\n" + LOOP.format("test_loader")),
        Snippet("samplers keep them apart", BOTH_HEAD + "train_loader = DataLoader(data, sampler=SubsetRandomSampler(a))\n"
                "val_loader = DataLoader(data, sampler=SubsetRandomSampler(b))\n" + LOOP.format("val_loader")),
        Snippet("training accuracy", BOTH_HEAD + "train_loader = DataLoader(data, shuffle=True)\nprobe = DataLoader(data, batch_size=512)\n" + LOOP.format("probe")),
        Snippet("split", BOTH_HEAD + "train, val = random_split(data, [50000, 10000])\ntrain_loader = DataLoader(train, shuffle=True)\n"
                "val_loader = DataLoader(val)\n" + LOOP.format("val_loader")),
    )  # fmt: skip
    BAD = (
        Snippet("the same object", BOTH_HEAD + "train_loader = DataLoader(data, batch_size=64, shuffle=True)\nval_loader = DataLoader(data, batch_size=64)\n"
                + LOOP.format("val_loader"), line=10),
        Snippet("loaded twice", BOTH_HEAD + "train_loader = DataLoader(data, batch_size=64, shuffle=True)\n"
                'again = datasets.MNIST("data", train=True, transform=transforms.ToTensor())\ntest_loader = DataLoader(again, batch_size=64)\n'
                + LOOP.format("test_loader"), line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        fed = [loader for feeding in trained(program) if (loader := loader_made(feeding.loader)) is not None]
        fed = [loader for loader in fed if not _is_picked(loader)]
        if not fed:
            return
        names = _names(program)
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or _is_picked(loader) or any(loader is other for other in fed):
                continue
            stored = names.get(id(loader), [])
            if not stored or not all(is_for_evaluation(name) for name in stored):
                continue
            if any(_is_same(dataset_of(loader), dataset_of(other)) for other in fed):
                yield self.finding(program, loader.node)


def _names(program: Program) -> dict[int, list[str]]:
    """The names that loaders are stored under."""
    found: dict[int, list[str]] = {}
    for event in program.stores:
        if event.target.name:
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


SECOND_HEAD = "from sklearn.model_selection import train_test_split\n\nX, y = load()\nX_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)\n"


class SecondSplitOfAll(StaticRule, code="S524", cause="VAL-SPLIT"):
    """The data is split a second time from the whole, not from the training part, so the new training part holds rows of the test set.

    Of the test rows, most are trained on: the test result is far too good.

    Split the training part: `train_test_split(X_train, y_train, ...)`.
    """

    message = "This splits all the data again, test rows included; split the training part instead."
    triggers = ("train_test_split(",)

    GOOD = (
        Snippet("of the training part", SECOND_HEAD + "X_tr, X_val, y_tr, y_val = train_test_split(X_train, y_train, test_size=0.1)\n"),
        Snippet("done anew", SECOND_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("of the whole", SECOND_HEAD + "X_tr, X_val, y_tr, y_val = train_test_split(X, y, test_size=0.1, random_state=0)\n", line=5),
        Snippet("in a function", "import sklearn.model_selection as ms\n\ndef parts(data):\n    rest, test_set = ms.train_test_split(data, test_size=0.2)\n    train_set, val_set = ms.train_test_split(data, test_size=0.2)\n    return train_set, val_set, test_set\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        splits: dict[int, tuple[Call, list[str]]] = {}
        for event in program.events:
            part = split_part(event.value) if isinstance(event, StoreEvent) else None
            if part is not None and event.target is not None:
                splits.setdefault(id(part[0]), (part[0], []))[1].append(event.target.name)
        made = list(splits.values())
        for at, (second, names) in enumerate(made):
            for first, earlier in made[:at]:
                if second.node is None or first.node is None or not _is_of_one(first, second):
                    continue
                if _is_equal(first, second):
                    continue
                is_named = (
                    any(map(is_for_evaluation, earlier)) and any(map(is_for_training, names))
                ) or _has_parts(earlier, names)
                is_together = program.function(first.node) is program.function(second.node)
                if is_named and is_together and not set(names) & set(earlier) - {"_"}:
                    yield self.finding(
                        program, second.node, see=[("The test part is split off here.", first.node)]
                    )
                    break


def _has_parts(earlier: list[str], names: list[str]) -> bool:
    """`X_tr, X_val` beside `X_train, X_test`."""
    return any("test" in name.lower() for name in earlier) and any("val" in name.lower() for name in names)


def _is_of_one(first: Call, second: Call) -> bool:
    return bool(first.args and second.args) and same_numbers(first.args[0]) is same_numbers(second.args[0])


def _is_equal(first: Call, second: Call) -> bool:
    """The same seed and sizes give the same parts."""
    return all(
        _number(first, name) == _number(second, name) for name in ("random_state", "test_size", "train_size")
    ) and (_number(first, "random_state") is not None)


def _number(call: Call, name: str) -> object:
    given: Value | None = call.keywords.get(name)
    return constant(resolved(given))
