"""Preprocessing that has seen the test data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import STORE, before
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Const, Item, Operation, Value, resolved
from netmend.program.meaning.arrays import SPLIT, complements, same_numbers, split_part
from netmend.program.meaning.fitting import SCALERS, Fit, centred_within, fits, fitted_within
from netmend.program.meaning.operations import walk
from netmend.program.meaning.statements import is_for_evaluation, is_for_labels, is_for_training
from netmend.program.text.edits import replace
from netmend.program.text.queries import names_in
from netmend.vocabulary.finding import Finding, Fix

BEFORE_HEAD = """\
import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler, MinMaxScaler
X, y = np.load("x.npy"), np.load("y.npy")
"""


class FittedBeforeSplit(StaticRule, code="S503", cause="VAL-TEST-LEAK"):
    """A scaler, decomposition or feature selection is fitted to all data, which is split into training and test after that.

    The fit has seen the test rows: their range, mean or even their labels shape the training inputs. The test result is then too
    good, in time series and with feature selection by a lot.

    Split first, fit on the training part, and only `transform` the test part.
    """

    message = "This is fitted to all data before the split, so the test part leaks into training; fit on the training part only."
    triggers = ("train_test_split(", "fit_transform(", "x_train", "X_train", "train_x", "train_data")
    patterns = (r"train_test_split\(|fit_transform\(",)

    GOOD = (
        Snippet("split first", BEFORE_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nscaler = StandardScaler()\n"
                "X_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n"),
        Snippet("labels may be encoded", BEFORE_HEAD + "y = LabelEncoder().fit_transform(y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("a second split of the training part", BEFORE_HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX = StandardScaler().fit_transform(X)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
        Snippet("row by row", BEFORE_HEAD + "X = X - X.mean(axis=1, keepdims=True)\nX_train, X_test = train_test_split(X)\n"),
        Snippet("statistics of the training rows", BEFORE_HEAD + "mean, std = X[:800].mean(0), X[:800].std(0)\nX = (X - mean) / std\n"
                "X_train, X_test = X[:800], X[800:]\n"),
        Snippet("columns are taken apart, not rows", BEFORE_HEAD + "X = StandardScaler().fit_transform(X)\nfeatures, target = X[:, :8], X[:, 8:]\n"),
        Snippet("all data is one training set", BEFORE_HEAD + "X = StandardScaler().fit_transform(X)\nfirst, second = X[:100], X[100:]\n"),
        Snippet("units of the target", BEFORE_HEAD + "y = (y - y.mean()) / y.std()\nX_train, y_train, X_test, y_test = X[:800], y[:800], X[800:], y[800:]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("scaled, then split", BEFORE_HEAD + "scaler = StandardScaler()\nX = scaler.fit_transform(X)\n"
                "X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)\n", line=8),
        Snippet("fit and transform", BEFORE_HEAD + "def load(X, y):\n    pca = PCA(10)\n    pca.fit(X)\n    Z = torch.tensor(pca.transform(X))\n"
                "    return train_test_split(Z, y)\n", line=9),
        Snippet("a series cut in two", BEFORE_HEAD + "scaled = MinMaxScaler().fit_transform(series.reshape(-1, 1))\nn = int(len(scaled) * 0.8)\n"
                "train = scaled[:n]\ntest = scaled[n:]\n", line=7),
        Snippet("columns of a table", BEFORE_HEAD + "import pandas as pd\ndf = pd.read_csv('a.csv')\ncolumns = ['a', 'b']\n"
                "df[columns] = StandardScaler().fit_transform(df[columns])\ntrain, test = train_test_split(df)\n", line=10),
        Snippet("by hand", BEFORE_HEAD + "X = (X - X.mean(axis=0)) / X.std(axis=0)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for arrays, split in _splits(program):
            for value in arrays:
                for node, data, _ in fitted_within(program, value):
                    if not _is_part(data):
                        yield self._at(program, node, split)
                for operation, data in centred_within(value):
                    written = operation.node
                    if written is None or _is_part(data):
                        continue
                    if program.function(written) is program.function(split):
                        yield self._at(program, written, split)

    def _at(self, program: Program, node: ast.AST, split: ast.AST) -> Finding | None:
        return self.finding(program, node, see=[("The data is split here.", split)])


def _splits(program: Program) -> Iterator[tuple[tuple[Value, ...], ast.AST]]:
    """What is split, and where: inputs of `train_test_split`, and arrays cut into parts that are named so."""
    for event in program.calls_of(SPLIT):
        call = event.call
        if call.args:
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


TEST_HEAD = "import torch\nfrom sklearn.decomposition import PCA\nfrom sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler\n\n"
SPLIT_LINE = "X_train, X_test, y_train, y_test = train_test_split(X, y)\n"


class FittedToTestData(StaticRule, code="S504", cause="PRE-TRAIN-TEST-SKEW"):
    """A scaler or decomposition that was fitted to the training data is fitted again, to the test data.

    Training and test inputs are then scaled differently, the same number means two things. The result on the test set is wrong,
    and a single new sample could not be scaled like this at all.

    Use `transform` on the test data.
    """

    message = (
        "This is fitted again on the test data, so the two parts are scaled differently; use transform here."
    )
    triggers = (".fit_transform(", ".fit(")

    GOOD = (
        Snippet(
            "only transformed",
            TEST_HEAD
            + SPLIT_LINE
            + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n",
        ),
        Snippet(
            "a picture of the test data",
            TEST_HEAD + SPLIT_LINE + "model.fit(X_train, y_train)\npoints = PCA(2).fit_transform(X_test)\n",
        ),
    )
    BAD = (
        mended("fit_transform twice", TEST_HEAD + SPLIT_LINE + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.⟨fit_transform → transform⟩(X_test)\n"),
        Snippet("a scaler for each part", TEST_HEAD + "def scale(train_x, test_x):\n    train_x = StandardScaler().fit_transform(train_x)\n"
                "    test_x = StandardScaler().fit_transform(test_x)\n    return train_x, test_x\n", line=8),
        mended("folds", TEST_HEAD + "for train_idx, test_idx in folds.split(X):\n    scaler = StandardScaler()\n    a = scaler.fit_transform(X[train_idx])\n"
                "    b = scaler.⟨fit_transform → transform⟩(X[test_idx])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = fits(program)
        for fit in known:
            if not _is_test(program, fit):
                continue
            earlier = [
                other for other in known if before(other.event, fit.event) and _is_train(program, other)
            ]
            same = [other for other in earlier if other.estimator is fit.estimator]
            alike = [
                other
                for other in earlier
                if other.kind == fit.kind and fit.kind in SCALERS and _pairs(program, other, fit)
            ]
            if same or alike:
                yield self.finding(program, fit.event.node, fix=self._fix(program, fit) if same else None)

    def _fix(self, program: Program, fit: Fit) -> Fix | None:
        node = fit.event.node
        if not fit.transforms or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        text = program.source(node.func)
        edits = replace(program, node.func, text.removesuffix("fit_transform") + "transform")
        return (
            Fix("Only transform the test data", edits) if edits and text.endswith("fit_transform") else None
        )


def _is_test(program: Program, fit: Fit) -> bool:
    part = split_part(fit.data)
    if part is not None:
        return part[1] % 2 == 1
    return is_for_evaluation(_words(program, fit))


def _is_train(program: Program, fit: Fit) -> bool:
    part = split_part(fit.data)
    return (part is not None and part[1] % 2 == 0) or is_for_training(_words(program, fit))


def _pairs(program: Program, train: Fit, test: Fit) -> bool:
    """Do the names of both differ only in the words for training and test: `X_train` and `X_test`?"""
    one, other = _words(program, train), _words(program, test)
    return _without(one) == _without(other)


def _without(name: str) -> str:
    for word in ("training", "train", "validation", "valid", "val", "test", "Train", "Test", "Valid", "Val"):
        name = name.replace(word, "")
    return name


def _words(program: Program, fit: Fit) -> str:
    """The names in the argument, in one line: `X_test`, `X_test_idx`."""
    return "_".join(names_in(fit.data_node))


RESAMPLED_HEAD = "import torch\nfrom imblearn.over_sampling import SMOTE, RandomOverSampler\nfrom imblearn.under_sampling import RandomUnderSampler\nfrom sklearn.model_selection import train_test_split\n\n"


class ResampledBeforeSplit(StaticRule, code="S518", cause="VAL-TEST-LEAK"):
    """Rare classes are filled up with copies or synthetic rows, and only then the data is split.

    Copies of one row, or points between two rows, land on both sides of the split. The network is tested on what it was trained
    on, and on a class balance that does not exist outside.

    Split first, then resample the training part only.
    """

    message = "Rows are duplicated before the split, so copies end up in training and test; split first, resample the training part."
    triggers = ("fit_resample", "fit_sample")

    GOOD = (
        Snippet("split first", RESAMPLED_HEAD + "X_train, X_test, y_train, y_test = train_test_split(X, y)\nX_train, y_train = SMOTE().fit_resample(X_train, y_train)\n"),
        Snippet("rows are only dropped", RESAMPLED_HEAD + "X, y = RandomUnderSampler().fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n"),
        Snippet("training part split once more", RESAMPLED_HEAD + "X, X_test, y, y_test = train_test_split(X, y)\nX, y = SMOTE().fit_resample(X, y)\n"
                "X_train, X_val, y_train, y_val = train_test_split(X, y)\n"),
    )  # fmt: skip
    BAD = (
        Snippet("synthetic rows", RESAMPLED_HEAD + "X, y = SMOTE(random_state=1).fit_resample(X, y)\nX_train, X_test, y_train, y_test = train_test_split(X, y)\n", line=6),
        Snippet("copies", RESAMPLED_HEAD + "def load(X, y):\n    sampler = RandomOverSampler()\n    rows, labels = sampler.fit_resample(X, y)\n"
                "    return train_test_split(torch.tensor(rows), labels)\n", line=8),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for event in program.calls_of(SPLIT):
            call = event.call
            for argument in call.args:
                for part in walk(argument):
                    if not isinstance(part, Call):
                        continue
                    if part.method not in ("fit_resample", "fit_sample"):
                        continue
                    made = resolved(part.receiver)
                    adds = isinstance(made, Call) and made.qualified.startswith(
                        ("imblearn.over_sampling.", "imblearn.combine.")
                    )
                    earlier = any(
                        isinstance(inner, Call) and inner.qualified == SPLIT for inner in walk(part)
                    )
                    if adds and not earlier:
                        yield self.finding(program, part.node, see=[("The data is split here.", event.node)])
