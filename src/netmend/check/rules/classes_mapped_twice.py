"""Two tables of class numbers that contradict each other, and columns of one input in two orders."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Collection, Const, Item, Value, resolved
from netmend.program.meaning.operations import reached
from netmend.program.meaning.parts import flows, parts
from netmend.program.meaning.prepared import steps_before
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels
from netmend.vocabulary.finding import Finding

HEAD = """\
import pandas as pd
import torch
from sklearn.preprocessing import LabelEncoder
from torch import nn

old, new = pd.read_csv("2021.csv"), pd.read_csv("2022.csv")
"""
USE = """
net = nn.Linear(2, 3)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    opt.zero_grad()
    nn.functional.cross_entropy(net(torch.tensor(old[["a", "b"]].values).float()), torch.tensor(y)).backward()
    opt.step()
with torch.no_grad():
    out = net(torch.tensor(new[["{0}", "{1}"]].values).float())
print((out.argmax(1).numpy() == y_test).mean())
"""


class ClassesMappedTwice(StaticRule, code="S935", cause="DAT-LABEL"):
    """The classes of the training data are numbered by one table, those of the evaluation data by another one that gives other numbers.

    What the network was taught to call 2 is called 0 where its answers are counted. Right answers count as wrong. `LabelEncoder`, sorted sets
    and folders number classes in the order of the alphabet; a dictionary that is written out need not.

    Use one table for both.
    """

    message = "This gives {0} number {1}, but training calls it {2}; use one table of class numbers for both."
    triggers = ("backward(",)

    GOOD = (
        Snippet("one table", HEAD + 'number = {"low": 0, "mid": 1, "top": 2}\ny, y_test = old["kind"].map(number).values, new["kind"].map(number).values\n' + USE.format("a", "b")),
        Snippet("the alphabet, written out", HEAD + 'y = LabelEncoder().fit_transform(old["kind"])\ny_test = new["kind"].map({"high": 0, "low": 1, "mid": 2}).values\n' + USE.format("a", "b")),
        Snippet("of another column", HEAD + 'y, y_test = old["kind"].map({"low": 0, "high": 1}).values, new["kind"].map({"low": 0, "high": 1}).values\n'
                'shops_test = new["shop"].map({"north": 1, "south": 0})\n' + USE.format("a", "b")),
    )  # fmt: skip
    BAD = (
        Snippet("two dictionaries", HEAD + 'y = old["kind"].map({"low": 0, "mid": 1, "top": 2}).values\ny_test = new["kind"].map({"top": 0, "mid": 1, "low": 2}).values\n' + USE.format("a", "b"), line=8),
        Snippet("an encoder and a dictionary", HEAD + 'y = LabelEncoder().fit_transform(old["kind"])\nORDER = {"low": 0, "mid": 1, "high": 2}\ny_test = new["kind"].map(ORDER).values\n'
                + USE.format("a", "b"), line=8),
        Snippet("two lists", HEAD + 'KINDS = ["low", "mid", "top"]\ny = [KINDS.index(k) for k in old["kind"]]\nNAMES = ["top", "mid", "low"]\n'
                'y_test = [NAMES.index(k) for k in new["kind"]]\n' + USE.format("a", "b"), line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        found = parts(program)
        taught = list(_tables(program, found.trained.values()))
        asked = [*found.evaluated.values(), *_named(program)]
        known = {id(table) for table, _ in taught}
        by_alphabet = any(map(_sorts, found.trained.values()))
        for table, numbers in _tables(program, asked):
            if id(table) in known or table.node is None or id(table) in found.asked:
                continue
            for _, other in taught:
                if other.keys() == numbers.keys() and other != numbers:
                    yield self._told(program, table.node, numbers, other)
                    return
            names = sorted(map(str, numbers))
            alphabet = {name: place for place, name in enumerate(names)}
            if (
                by_alphabet
                and not taught
                and set(numbers.values()) == set(alphabet.values())
                and numbers != alphabet
            ):
                yield self._told(program, table.node, numbers, alphabet)
                return

    def _told(
        self, program: Program, node: ast.AST, numbers: Mapping[str, int], other: Mapping[str, int]
    ) -> Finding | None:
        name = next(name for name in numbers if numbers[name] != other[name])
        return self.finding(program, node, self.message.format(repr(name), numbers[name], other[name]))


def _named(program: Program) -> Iterator[Value]:
    """What is stored under a name for the labels of evaluation, with all that it is made from."""
    flow = flows(program)
    for event in program.stores:
        if is_for_labels(event.target.name) and is_for_evaluation(event.target.name):
            yield from reached(event.value, flow.sources)


def _tables(program: Program, values: Iterable[Value]) -> Iterator[tuple[Collection, dict[str, int]]]:
    """Written-out tables from names to numbers, where something is looked up in them."""
    for value in values:
        table = _looked_up(value)
        if isinstance(table, Collection) and (numbers := _numbers(table)) is not None:
            yield table, numbers


def _looked_up(value: Value) -> Value | None:
    if isinstance(value, Item):
        return resolved(value.base)
    if isinstance(value, Call) and value.method in ("get", "index"):
        return resolved(value.receiver)
    if (
        isinstance(value, Call)
        and value.method in ("map", "replace", "apply", "replace_strict")
        and value.args
    ):
        given = resolved(value.args[0])
        return resolved(given.base) if isinstance(given, Attribute) else given
    return None


def _numbers(table: Collection) -> dict[str, int] | None:
    keys: list[Value | None]
    if table.open or len(table.items) < 2:
        return None
    if table.kind == "dict":
        keys, items = list(table.keys or ()), [resolved(item) for item in table.items]
    elif table.kind in ("list", "tuple"):
        keys, items = list(table.items), [Const(place) for place in range(len(table.items))]
    else:
        return None
    numbers = {
        key.value: item.value
        for key, item in zip(map(resolved, keys), items, strict=False)
        if isinstance(key, Const) and isinstance(item, Const)
    }
    whole = len(numbers) == len(table.items) and all(type(number) is int for number in numbers.values())
    return numbers if whole and all(isinstance(name, str) for name in numbers) else None


def _sorts(value: Value) -> bool:
    """Are names numbered in the order of the alphabet here?"""
    if not isinstance(value, Call):
        return False
    made = resolved(value.receiver)
    return (
        value.method in ("fit_transform", "transform")
        and isinstance(made, Call)
        and made.qualified.endswith(".LabelEncoder")
    )


class ColumnsInAnotherOrder(StaticRule, code="S936", cause="PRE-TRAIN-TEST-SKEW"):
    """The network is trained on the columns of a table in one order and asked with them in another.

    Each weight belongs to a place, not to a name: it is then multiplied with the values of another column.

    Write the list of columns once and take both parts by it.
    """

    message = "The columns stand in another order than in training, where {0} comes at place {1}; take both parts by one list of columns."
    triggers = ("backward(",)

    GOOD = (Snippet("one order", HEAD + 'y, y_test = old["y"].values, new["y"].values\n' + USE.format("a", "b")),)  # fmt: skip
    BAD = (Snippet("written twice", HEAD + 'y, y_test = old["y"].values, new["y"].values\n' + USE.format("b", "a"), line=16),)  # fmt: skip

    def check(self, program: Program) -> Findings:
        found = parts(program)
        trained = [call for call in found.questions if id(call) in found.trained]
        for call in (call for call in found.questions if id(call) not in found.trained):
            for other in trained:
                if resolved(call.function) is not resolved(other.function):
                    continue
                for one, its in zip(call.args, other.args, strict=False):
                    mine, theirs = _columns(program, one), _columns(program, its)
                    if mine and theirs and mine[0] != theirs[0] and sorted(mine[0]) == sorted(theirs[0]):
                        first = next(place for place, name in enumerate(theirs[0]) if mine[0][place] != name)
                        yield self.finding(
                            program, mine[1], self.message.format(f"`{theirs[0][first]}`", first + 1)
                        )
                        return


def _columns(program: Program, value: Value) -> tuple[list[str], ast.AST] | None:
    """The columns of a table that an input is, in their order, and where they are picked."""
    found = steps_before(program, value)
    for key in found.keys:
        if isinstance(key, Collection) and key.kind == "list" and not key.open and key.node is not None:
            names = [
                name.value
                for name in map(resolved, key.items)
                if isinstance(name, Const) and isinstance(name.value, str)
            ]
            if len(names) == len(key.items) and len(names) > 1:
                return names, key.node
    return None
