"""A step of preparation that training data goes through and evaluation data does not, or the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Value, resolved
from netmend.program.meaning.learned import COLUMNS, DICTIONARY, estimator
from netmend.program.meaning.losses import loss_kind
from netmend.program.meaning.parts import flows, parts
from netmend.program.meaning.prepared import OF_NUMBERS, OF_WORDS, Step, Steps, steps_before

HEAD = """\
import re
import numpy as np
import pandas as pd
import torch
from torch import nn

"""
VOCABULARY = """\
def words(text):
    return re.findall("[a-z]+", text.lower())

rows = [line.split("\\t") for line in open("train.tsv")]
vocab = {}
for label, text in rows:
    for word in words(text):
        vocab[word] = len(vocab) + 1
x = torch.tensor([[vocab.get(word, 0) for word in words(text)][:9] for label, text in rows])
y = torch.tensor([int(label) for label, text in rows])
net = nn.EmbeddingBag(5000, 2)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
net.eval()
new = [line.split("\\t") for line in open("test.tsv")]
with torch.no_grad():
"""
TABLES = """\
old, new = pd.read_csv("2021.csv"), pd.read_csv("2022.csv")
inputs = ["income", "age"]
"""
TRAINING = """
net = nn.Linear(2, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    loss = (net(torch.tensor(old[inputs].values).float()).squeeze(1) - torch.tensor(old["y"].values)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    out = net(torch.tensor(new[inputs].values).float())
"""
ARRAYS = """\
data = np.load("spectra.npz")
x, y, u, v = data["x"], data["y"], data["u"], data["v"]
{0}
net = nn.Linear(20, 3)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    nn.functional.cross_entropy(net(torch.from_numpy(x).float()), torch.from_numpy(y)).backward()
    opt.step()
with torch.no_grad():
    out = net(torch.from_numpy(u).float())
"""


@dataclass(frozen=True)
class _Missing:
    """A step of one part that the other does not have; `at`: where the other part is made without it."""

    name: str
    node: ast.AST
    at: ast.AST | None
    only_trained: bool


class StepForOnePartOnly(StaticRule, code="S933", cause="PRE-TRAIN-TEST-SKEW"):
    """Texts are lower-cased, stripped or cut into words, or numbers are put on another scale, for training only, or for evaluation only.

    The network meets words that it has no number for, or numbers far from those it has learned with. The result says nothing about it.

    Write the steps as one function and call it for both.
    """

    message = "`{0}` is applied to {1} data, but not to {2} data; prepare both with the same function."
    triggers = ("backward(",)
    patterns = (r"backward\(",)

    GOOD = (
        Snippet("one function for both", HEAD + VOCABULARY + "    out = net(torch.tensor([[vocab.get(word, 0) for word in words(text)][:9] for label, text in new]))\n"),
        Snippet("the same logarithm", HEAD + TABLES + 'for df in (old, new):\n    df["income"] = np.log1p(df["income"])\n' + TRAINING),
        Snippet("a target that is learned as a logarithm", HEAD + TABLES + 'old["y"] = np.log1p(old["y"])\n' + TRAINING + '    print((out.expm1() - torch.tensor(new["y"].values)).abs().mean())\n'),
        Snippet("a score on a scale of its own", HEAD + TABLES + "error = nn.MSELoss()\n" + TRAINING.replace('(net(torch.tensor(old[inputs].values).float()).squeeze(1) - torch.tensor(old["y"].values)).square().mean()', 'error(net(torch.tensor(old[inputs].values).float()).squeeze(1), torch.tensor(old["y"].values).float())') + '    print(error(out.squeeze(1).clamp(min=1).log(), torch.tensor(new["y"].values).log()).sqrt())\n'),
        Snippet("the same scale", HEAD + ARRAYS.format("x, u = x / 255, u / 255.0")),
    )  # fmt: skip
    BAD = (
        Snippet("texts are only split", HEAD + VOCABULARY + "    out = net(torch.tensor([[vocab.get(word, 0) for word in text.split()][:9] for label, text in new]))\n", line=26),
        Snippet("a column of one table", HEAD + TABLES + 'old["income"] = np.log1p(old["income"])\n' + TRAINING, line=9),
        Snippet("an array", HEAD + ARRAYS.format("x = np.log1p(x)"), line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        told: set[int] = set()
        for found in (*_words(program), *_numbers(program)):
            # Where the other part is made in its own way, that is the line to change.
            node = found.at if found.at is not None and found.only_trained else found.node
            if id(node) in told:
                continue
            told.add(id(node))
            sides = ("training", "evaluation") if found.only_trained else ("evaluation", "training")
            see = [(f"`{found.name}` stands here.", found.node)] if node is not found.node else []
            yield self.finding(program, node, self.message.format(found.name, *sides), see=see)


def _words(program: Program) -> Iterator[_Missing]:
    """Words that are looked up in one dictionary, in training and in evaluation."""
    found = parts(program)
    trained: dict[int, list[Steps]] = {}
    for consumer, key in _lookups(found.trained.values()):
        trained.setdefault(consumer, []).append(steps_before(program, key))
    for consumer, key in _lookups(found.evaluated.values()):
        own = steps_before(program, key)
        others = trained.get(consumer, [])
        mine = own.among(OF_WORDS)
        if not own.whole or not others or not all(other.whole for other in others):
            continue
        if any(other.among(OF_WORDS).keys() == mine.keys() for other in others):
            continue
        other = others[0].among(OF_WORDS)
        if len({frozenset(each.among(OF_WORDS)) for each in others}) > 1:
            continue
        if missing := [step for name, step in other.items() if name not in mine]:
            at = next((step.node for step in own.steps if step.name in _CUTS), None)
            yield _Missing("` and `".join(step.name for step in reversed(missing)), missing[0].node, at, True)
        else:
            step = next(step for name, step in mine.items() if name not in other)
            yield _Missing(step.name, step.node, None, False)


_CUTS = frozenset(("split", "findall", "tokenize", "word_tokenize", *OF_WORDS))


def _lookups(values: Iterable[Value]) -> Iterator[tuple[int, Value]]:
    """Dictionaries and vectorisers, each with what is looked up in it."""
    for value in values:
        looked_up = _looked_up(value)
        if looked_up is not None:
            yield looked_up


def _looked_up(value: Value) -> tuple[int, Value] | None:
    if isinstance(value, Item):
        base, key = resolved(value.base), value.key
    elif isinstance(value, Call) and value.args and value.receiver is not None:
        base, key = resolved(value.receiver), value.args[0]
        if value.method in ("transform", "fit_transform") and estimator(base) in (DICTIONARY, COLUMNS):
            return id(base), key
        if value.method != "get":
            return None
    else:
        return None
    is_dictionary = (
        isinstance(base, Collection) and base.kind == "dict" and not isinstance(resolved(key), Const)
    )
    return (id(base), key) if is_dictionary else None


def _numbers(program: Program) -> Iterator[_Missing]:
    """What a network is given in training and in evaluation, argument by argument."""
    found = parts(program)
    asked: dict[bool, list[tuple[Call, list[Steps]]]] = {True: [], False: []}
    for call in found.questions:
        if loss_kind(call.function):  # its parts of a batch are compared, on whatever scale the score has
            continue
        given = [steps_before(program, value) for value in call.args]
        asked[id(call) in found.trained].append((call, given))
    for call, tested in asked[False]:
        for other, trained in asked[True]:
            if other.function is not call.function and resolved(other.function) is not resolved(
                call.function
            ):
                continue
            for one, mine in zip(trained, tested, strict=False):
                yield from _apart(program, one, mine)


def _apart(program: Program, trained: Steps, tested: Steps) -> Iterator[_Missing]:
    if not (trained.whole and tested.whole):
        return
    if trained.root is not tested.root:
        yield from _columns_apart(program, trained, tested)
    one, other = _scales(trained), _scales(tested)
    if {step.name for step in trained.steps if _is_open(step.name)} != {
        step.name for step in tested.steps if _is_open(step.name)
    }:
        return
    for name in one.keys() - other.keys():
        yield _Missing(name, one[name].node, None, True)
    for name in other.keys() - one.keys():
        yield _Missing(name, other[name].node, None, False)


def _scales(steps: Steps) -> dict[str, Step]:
    return {step.name: step for step in steps.steps if step.name in OF_NUMBERS}


# Keep the numbers: reading, choosing rows and columns, conversions.
_NEUTRAL = frozenset(
    ("tensor", "as_tensor", "from_numpy", "FloatTensor", "array", "asarray", "stack", "to_numpy", "astype", "float", "double", "long", "to", "cuda",
     "values", "unsqueeze", "reshape", "view", "flatten", "permute", "transpose", "squeeze", "copy", "drop", "head", "tail", "sample", "reset_index",
     "load", "DataLoader", "TensorDataset", "read_csv", "read_parquet", "dropna", "select", "numpy", "contiguous", "split", "randperm", "shuffle",
     "sort_values", "iloc", "loc", "float32", "tolist", "list", "half", "detach", "clone", "pin_memory", "train_test_split")
)  # fmt: skip


def _is_open(name: str) -> bool:
    """May a step do by itself what is looked for, such as a transform?"""
    return name not in _NEUTRAL and name not in OF_NUMBERS


def _columns_apart(program: Program, trained: Steps, tested: Steps) -> Iterator[_Missing]:
    """Columns that are changed in place in the table of one part only."""
    flow = flows(program)
    for one, other, only_trained in ((trained, tested, True), (tested, trained, False)):
        table, sister = one.root, other.root
        if not isinstance(table, Call) or not isinstance(sister, Call) or table.qualified != sister.qualified:
            continue
        changed = flow.stored.get(id(sister), ())
        for key, made in flow.stored.get(id(table), ()):
            name = resolved(key)
            if (
                not isinstance(name, Const)
                or not _is_picked(one.keys, name)
                or any(_may_be(name, known) for known, _ in changed)
            ):
                continue
            steps = steps_before(program, made)
            change = next((step for step in steps.steps if step.name in OF_NUMBERS), None)
            if change is not None and steps.root is table and _is_picked(steps.keys, name):
                yield _Missing(change.name, change.node, None, only_trained)


def _is_picked(keys: Iterable[Value], column: Const) -> bool:
    """Is a column among those that were picked by name?"""
    for key in keys:
        names = key.items if isinstance(key, Collection) else [key]
        if any(isinstance(name, Const) and name.value == column.value for name in map(resolved, names)):
            return True
    return False


def _may_be(column: Const, key: Value | None) -> bool:
    """Might a key stand for a column?"""
    key = resolved(key)
    return not isinstance(key, Const) or key.value == column.value
