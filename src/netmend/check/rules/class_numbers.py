"""Classes that are numbered in one way for training and in another for evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Element,
    Item,
    Operation,
    Value,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders import dataset_of, loader_made, samples_of
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import reached, walk
from netmend.program.meaning.parts import flows, parts
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels

HEAD = """\
import os
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Folders(Dataset):
    def __init__(self, root):
        self.classes = sorted(os.listdir(root))
        self.class_to_idx = {name: place for place, name in enumerate(self.classes)}
        self.items = [(os.path.join(root, name, file), self.class_to_idx[name]) for name in self.classes
                      for file in os.listdir(os.path.join(root, name))]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        path, label = self.items[i]
        return torch.load(path), label

full = Folders("train")
net = nn.Linear(8, len(full.classes))
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(full, batch_size=8, shuffle=True):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
table = pd.read_csv("test.csv")
"""
TESTING = """
x_test = torch.stack([torch.load(file) for file in table["file"]])
with torch.no_grad():
    print((net(x_test).argmax(1) == y_test).float().mean())
"""
DATASET = """\
class Test(Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = self.table.iloc[i]
        return torch.load(row["file"]), {0}

with torch.no_grad():
    for x, y in DataLoader(Test(table), batch_size=8):
        print((net(x).argmax(1) == y).float().mean())
"""
_LISTING = frozenset(("os.listdir", "os.scandir", "glob.glob", "os.walk", "glob.iglob"))
_LISTING_METHODS = frozenset(("iterdir", "glob", "rglob"))
_READING = ("pandas.read_", "polars.read_", "csv.", "json.", "numpy.load", "numpy.genfromtxt", "open")


class ClassesNumberedTwice(StaticRule, code="S934", cause="DAT-LABEL", preview=True):
    """Training counts the sorted names of folders as classes, evaluation takes the numbers that a table gives.

    Names are sorted as words: 1, 10, 11, 2. Class 1 of the network is then folder 10, while the table's 1 or 2 means another one. Most answers
    are counted as wrong although they are right. A run tells whether the folders' names are such numbers.

    Look the table's number up in the mapping of the training set: `class_to_idx[str(number)]`.
    """

    message = "Training numbers the classes by the sorted names of folders, but here the table's own number is the class; look it up in the training mapping: class_to_idx[str(...)]."
    triggers = ("backward(",)
    patterns = (NOWHERE,)

    GOOD = (
        Snippet("looked up", HEAD + 'y_test = torch.tensor([full.class_to_idx[str(s)] for s in table["species"]])\n' + TESTING),
        Snippet("looked up in the data set", HEAD + DATASET.format('full.class_to_idx[str(row["species"])]')),
        Snippet("both from one table", HEAD.replace("self.class_to_idx[name]) for", "int(name)) for") + 'y_test = torch.tensor([int(s) for s in table["species"]])\n' + TESTING),
    )  # fmt: skip
    BAD = (
        Snippet("a list of numbers", HEAD + 'y_test = torch.tensor([int(s) - 1 for s in table["species"]])\n' + TESTING, line=30),
        Snippet("a column", HEAD + 'y_test = torch.tensor(table["species"].values)\n' + TESTING, line=30),
        Snippet("in a data set", HEAD + DATASET.format('int(row["species"])'), line=39),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        flow = flows(program)
        if not any(_counts_folders(program, answer) for answer in _answers(program, trained=True)):
            return
        for answer in _answers(program, trained=False):
            number = _number_of_table(answer)
            if number is None or number.node is None:
                continue
            if any(_is_listing(part) for part in reached(number, flow.sources)):
                continue
            yield self.finding(program, number.node)
            return


def _answers(program: Program, *, trained: bool) -> Iterator[Value]:
    """The labels of one part: of its data sets, by name, or what the network's answers are compared with."""
    if trained:
        yield from (use.target for use in loss_uses(program) if use.target is not None)
        return
    found = parts(program)
    for call in found.questions:
        for given in call.args if id(call) not in found.trained else ():
            element = resolved(given.base) if isinstance(given, Item) else None
            loader = loader_made(element.iterable) if isinstance(element, Element) else None
            samples = samples_of(program, dataset_of(loader)) if loader is not None else None
            if samples:
                yield samples[-1]
    for store in program.stores:
        if is_for_labels(store.target.name) and is_for_evaluation(store.target.name):
            yield store.value
    for event in program.calls:
        for part in (event.call.receiver, *event.call.given):
            compared = resolved(part)
            if isinstance(compared, Operation) and compared.operator == "==":
                yield from compared.operands


def _counts_folders(program: Program, answer: Value) -> bool:
    """Is a label the place of a name in a sorted list of folders?"""
    return any(
        (names := _counted_names(part)) is not None and _is_of_names(program, names)
        for part in reached(answer, flows(program).sources)
    )


def _counted_names(value: Value) -> Value | None:
    """What a label is the place in: of `class_to_idx[name]`, `names.index(name)`, `for label, name in enumerate(names)`."""
    if isinstance(value, Item):
        base = resolved(value.base)
        return base if isinstance(base, Collection) and base.kind == "dict" else None
    if isinstance(value, Call) and value.method in ("get", "index"):
        return resolved(value.receiver)
    counted = resolved(value.iterable) if isinstance(value, Element) else None
    return counted if isinstance(counted, Call) and counted.qualified == "enumerate" else None


def _is_of_names(program: Program, value: Value) -> bool:
    own = list(reached(value, flows(program).sources))
    is_sorted = any(
        isinstance(part, Call) and (part.qualified == "sorted" or part.method == "sort") for part in own
    )
    return is_sorted and any(map(_is_listing, own))


def _is_listing(value: Value) -> bool:
    return isinstance(value, Call) and (value.qualified in _LISTING or value.method in _LISTING_METHODS)


def _number_of_table(answer: Value) -> Value | None:
    """The number of a table or a file, as it is or shifted by a constant."""
    value: Value = same_numbers(answer)
    if isinstance(value, Collection) and value.repeated and len(value.items) == 1:
        value = same_numbers(value.items[0])
    whole = value
    while (
        isinstance(value, Operation)
        and value.operator in ("-", "+")
        and isinstance(resolved(value.operands[1]), Const)
    ):
        value = same_numbers(value.operands[0])
    if isinstance(value, Call) and value.qualified == "int" and value.args:
        value = resolved(value.args[0])
    if not isinstance(value, Item | Element) or not any(_is_reading(part) for part in walk(value)):
        return None
    held = resolved(value.base if isinstance(value, Item) else value.iterable)
    return None if isinstance(held, Collection) else whole


def _is_reading(value: Value) -> bool:
    return isinstance(value, Call) and value.qualified.startswith(_READING)
