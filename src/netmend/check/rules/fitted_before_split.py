from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Operation, Value
from netmend.program.meaning.arguments import is_for_evaluation, is_for_labels, is_for_training
from netmend.program.meaning.arrays import SPLIT, complements, function_around, same_numbers
from netmend.program.meaning.fitting import centred_within, fitted_within
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding, Related

HEAD = """\
import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler, MinMaxScaler
X, y = np.load("x.npy"), np.load("y.npy")
"""


@register
class FittedBeforeSplit(StaticRule):
    """A scaler, decomposition or feature selection is fitted to all data, which is split into training and test after that.

    The fit has seen the test rows: their range, mean or even their labels shape the training inputs. The test result is then too
    good, in time series and with feature selection by a lot.

    Split first, fit on the training part, and only `transform` the test part.
    """

    code = "S503"
    cause = "VAL-TEST-LEAK"
    message = "This is fitted to all data before the split, so the test part leaks into training; fit on the training part only."
    triggers = ("train_test_split(", "fit_transform(", "x_train", "X_train", "train_x", "train_data")
    patterns = (r"train_test_split\(|fit_transform\(",)

    GOOD = (
        Snippet("split first", HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nscaler = StandardScaler()\n"
                "X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n"),
        Snippet("labels may be encoded", HEAD + "y = LabelEncoder().fit_transform(y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("a second split of the training part", HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX = StandardScaler().fit_transform(X)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
        Snippet("row by row", HEAD + "X = X - X.mean(axis=1, keepdims=True)\nX_train, X_test = train_test_split(X)\n"),
        Snippet("statistics of the training rows", HEAD + "mean, std = X[:800].mean(0), X[:800].std(0)\nX = (X - mean) / std\n"
                "X_train, X_test = X[:800], X[800:]\n"),
        Snippet("columns are taken apart, not rows", HEAD + "X = StandardScaler().fit_transform(X)\nfeatures, target = X[:, :8], X[:, 8:]\n"),
        Snippet("all data is one training set", HEAD + "X = StandardScaler().fit_transform(X)\nfirst, second = X[:100], X[100:]\n"),
        Snippet("units of the target", HEAD + "y = (y - y.mean()) / y.std()\nX_train, y_train, X_test, y_test = X[:800], y[:800], X[800:], y[800:]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("scaled, then split", HEAD + "scaler = StandardScaler()\nX = scaler.fit_transform(X)\n"
                "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)\n", line=8),
        Snippet("fit and transform", HEAD + "def load(X, y):\n    pca = PCA(10)\n    pca.fit(X)\n    Z = torch.tensor(pca.transform(X))\n"
                "    return train_test_split(Z, y)\n", line=9),
        Snippet("a series cut in two", HEAD + "scaled = MinMaxScaler().fit_transform(series.reshape(-1, 1))\nn = int(len(scaled) * 0.8)\n"
                "train = scaled[:n]\ntest = scaled[n:]\n", line=7),
        Snippet("columns of a table", HEAD + "import pandas as pd\ndf = pd.read_csv('a.csv')\ncolumns = ['a', 'b']\n"
                "df[columns] = StandardScaler().fit_transform(df[columns])\ntrain, test = train_test_split(df)\n", line=10),
        Snippet("by hand", HEAD + "X = (X - X.mean(axis=0)) / X.std(axis=0)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        for arrays, split in _splits(program):
            for value in arrays:
                for node, data, _ in fitted_within(program, value):
                    if id(node) not in seen and not _is_part(data):
                        seen.add(id(node))
                        yield self._at(program, node, split)
                for operation, data in centred_within(value):
                    written = operation.node
                    if written is None or id(written) in seen or _is_part(data):
                        continue
                    if function_around(program, written) is function_around(program, split):
                        seen.add(id(written))
                        yield self._at(program, written, split)

    def _at(self, program: Program, node: ast.AST, split: ast.AST) -> Finding:
        place = program.place(split)
        return self.finding(
            program, node, related=(Related("The data is split here.", place.file, place.line, place.column),)
        )


def _splits(program: Program) -> Iterator[tuple[tuple[Value, ...], ast.AST]]:
    """What is split, and where: inputs of `train_test_split`, and arrays cut into parts that are named so."""
    for event in program.calls_of(SPLIT):
        call = event.call
        if call is not None and call.args:
            yield (*call.args[:1], *_stored(program, call.args[0], event.order)), event.node
    for first, second in complements(program):
        if is_for_labels(first.name) or is_for_labels(second.name):
            continue
        if is_for_training(first.name) and is_for_evaluation(second.name):
            yield (first.base,), second.event.node


def _stored(program: Program, table: Value, until: int) -> Iterator[Value]:
    """What was put into columns of a table before it is split: `df[columns] = …`."""
    table = same_numbers(table)
    for event in program.events:
        target = event.target
        if (
            event.kind == STORE
            and event.order < until
            and target is not None
            and target.key is not None
            and target.base is not None
            and same_numbers(target.base) is table
        ):
            yield event.value


def _is_part(data: Value) -> bool:
    """Is the fitted data itself a part of an earlier split, or rows picked from the whole?"""
    for part in walk(data):
        if isinstance(part, Call) and part.qualified == SPLIT:
            return True
        if isinstance(part, Item) and _picks_rows(part.key):
            return True
    return False


def _picks_rows(key: Value) -> bool:
    if isinstance(key, Collection) and key.items:
        key = key.items[0]
    if isinstance(key, Const):
        return False
    if isinstance(key, Operation) and key.operator == "slice":
        return any(not (isinstance(bound, Const) and bound.value is None) for bound in key.operands[:2])
    return not isinstance(key, Collection)
