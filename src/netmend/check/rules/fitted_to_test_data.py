from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.history import before
from netmend.program.engine.program import Program
from netmend.program.meaning.arguments import is_for_evaluation, is_for_training
from netmend.program.meaning.arrays import split_part
from netmend.program.meaning.fitting import SCALERS, Fit, fits
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Finding, Fix

HEAD = "import torch\nfrom sklearn.decomposition import PCA\nfrom sklearn.model_selection import train_test_split\nfrom sklearn.preprocessing import StandardScaler\n\n"
SPLIT = "X_train, X_test, y_train, y_test = train_test_split(X, y)\n"


@register
class FittedToTestData(StaticRule):
    """A scaler or decomposition that was fitted to the training data is fitted again, to the test data.

    Training and test inputs are then scaled differently, the same number means two things. The result on the test set is wrong,
    and a single new sample could not be scaled like this at all.

    Use `transform` on the test data.
    """

    code = "S504"
    cause = "PRE-TRAIN-TEST-SKEW"
    message = (
        "This is fitted again on the test data, so the two parts are scaled differently; use transform here."
    )
    triggers = (".fit_transform(", ".fit(")

    GOOD = (
        Snippet(
            "only transformed",
            HEAD
            + SPLIT
            + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n",
        ),
        Snippet(
            "a picture of the test data",
            HEAD + SPLIT + "model.fit(X_train, y_train)\npoints = PCA(2).fit_transform(X_test)\n",
        ),
        Snippet(
            "inputs and targets",
            HEAD
            + SPLIT
            + "X_train = StandardScaler().fit_transform(X_train)\ny_train = StandardScaler().fit_transform(y_train)\n",
        ),
        Snippet(
            "one scaler after the other",
            HEAD
            + "for name in names:\n    scaler = StandardScaler()\n    data[name] = scaler.fit_transform(data[name])\n",
        ),
    )
    BAD = (
        Snippet("fit_transform twice", HEAD + SPLIT + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.fit_transform(X_test)\n",
                line=9, fixed=HEAD + SPLIT + "scaler = StandardScaler()\nX_train = scaler.fit_transform(X_train)\nX_test = scaler.transform(X_test)\n"),
        Snippet("a scaler for each part", HEAD + "def scale(train_x, test_x):\n    train_x = StandardScaler().fit_transform(train_x)\n"
                "    test_x = StandardScaler().fit_transform(test_x)\n    return train_x, test_x\n", line=8),
        Snippet("folds", HEAD + "for train_idx, test_idx in folds.split(X):\n    scaler = StandardScaler()\n    a = scaler.fit_transform(X[train_idx])\n"
                "    b = scaler.fit_transform(X[test_idx])\n", line=9,
                fixed=HEAD + "for train_idx, test_idx in folds.split(X):\n    scaler = StandardScaler()\n    a = scaler.fit_transform(X[train_idx])\n"
                "    b = scaler.transform(X[test_idx])\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
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
    if fit.data_node is None:
        return ""
    names = [
        getattr(part, "id", "") or getattr(part, "attr", "")
        for part in ast.walk(fit.data_node)
        if isinstance(part, ast.Name | ast.Attribute)
    ]
    return "_".join(name for name in names if name)
