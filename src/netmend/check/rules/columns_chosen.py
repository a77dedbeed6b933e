"""Columns that are kept because they go with the answers, those of the evaluated rows too."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Item,
    Operation,
    Value,
    resolved,
)
from netmend.program.meaning.fitting import fitted_within
from netmend.program.meaning.operations import walk
from netmend.program.meaning.partitions import partitions
from netmend.program.meaning.rows import is_part, made_of, rows_of
from netmend.program.meaning.targets import Targets, column_of, targets

HEAD = """\
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv("a.csv")
"""

CHOICE_HEAD = """\
import numpy as np
from scipy.stats import pearsonr
from sklearn.model_selection import KFold, train_test_split
X, y = np.load("x.npy"), np.load("y.npy")
"""
FOLDS = "for tr, te in KFold(5).split(X, y):\n    print(X[tr], y[te])\n"


class ColumnsChosenByAllTargets(StaticRule, code="S951", cause="VAL-TEST-LEAK"):
    """Columns are kept because they go with the targets of all rows, those of the evaluated part too.

    Among many columns some agree with the answers by chance, in the test rows as well when these have a say. The test result is then
    good even where there is nothing to find.

    Split first, and choose within each training part only.
    """

    message = "The columns are chosen by the targets of all rows, those of the evaluated part too; split first and choose by the training part only."
    triggers = (
        "corr",
        "argsort",
        "topk",
        "nlargest",
        "sort",
        "importances_",
        "coef_",
        "pearsonr",
        "spearmanr",
        "ttest",
        "_classif",
        "_regression",
        "chi2",
        "std(",
    )
    patterns = (r"train_test_split\(|random_split\(|\.split\(",)

    GOOD = (
        Snippet("of the training part", CHOICE_HEAD + "for tr, te in KFold(5).split(X, y):\n    r = np.abs(np.corrcoef(X[tr].T, y[tr])[-1, :-1])\n"
                "    best = np.argsort(r)[-30:]\n    print(X[tr][:, best], X[te][:, best])\n"),
        Snippet("without the target", CHOICE_HEAD + "best = np.argsort(X.std(axis=0))[-30:]\nX = X[:, best]\n" + FOLDS),
        Snippet("only looked at", CHOICE_HEAD + "r = np.corrcoef(X.T, y)[-1, :-1]\nprint(np.argsort(r)[-30:])\n" + FOLDS),
        Snippet("as many columns as classes", CHOICE_HEAD + "X = X[:, : y.max() + 1]\n" + FOLDS),
        Snippet("rows in the order of the target", CHOICE_HEAD + "order = np.argsort(y)\nX, y = X[order], y[order]\n" + FOLDS),
    )  # fmt: skip
    BAD = (
        Snippet("correlation", CHOICE_HEAD + "r = np.abs(np.corrcoef(X.T, y)[-1, :-1])\nbest = np.argsort(r)[-30:]\nX = X[:, best]\n" + FOLDS, line=5),
        Snippet("in a loop", CHOICE_HEAD + "scores = []\nfor j in range(X.shape[1]):\n    r, p = pearsonr(X[:, j], y)\n    scores.append(abs(r))\nbest = np.argsort(scores)[::-1][:40]\n"
                "X = X[:, best]\n" + FOLDS, line=7),
        Snippet("difference of means", CHOICE_HEAD + "gap = np.abs(X[y == 1].mean(0) - X[y == 0].mean(0)) / X.std(0)\nkeep = gap > np.quantile(gap, 0.99)\nX = X[:, keep]\n" + FOLDS, line=5),
        Snippet("a table's correlations", HEAD + "r = df.corr()['price'].abs()\ncolumns = r[r > 0.1].index.drop('price')\n"
                "a, b, c, d = train_test_split(df[columns], df['price'])\n", line=6),
        Snippet("a forest's importances", CHOICE_HEAD + "from sklearn.ensemble import RandomForestClassifier\nforest = RandomForestClassifier()\nforest.fit(X, y)\n"
                "X = X[:, np.argsort(forest.feature_importances_)[-20:]]\n" + FOLDS, line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        aims = targets(program)
        if not aims:
            return
        for partition in partitions(program):
            until = partition.event.order
            for data in partition.inputs:
                if aims.is_one(resolved(data)):
                    continue
                whole = aims.values | {id(part) for part in rows_of(program, data)}
                for part in list(made_of(program, data, until)):
                    key = _column_key(part)
                    if key is None:
                        continue
                    inner = list(_with_fits(program, made_of(program, key, until)))
                    if any(_is_part_of(program, each, whole) for each in inner) or any(
                        fitted_within(program, inner)
                    ):
                        continue
                    node = _asks_target(inner, aims)
                    if node is not None:
                        yield self.finding(
                            program, node, see=[("The data is split here.", partition.event.node)]
                        )


def _is_part_of(program: Program, value: Value, whole: frozenset[int]) -> bool:
    """Is a value some rows of the data, a part that may be looked at?"""
    return is_part(program, value) and any(id(part) in whole for part in rows_of(program, value)[1:])


def _column_key(value: Value) -> Value | None:
    """What picks columns: the second part of `X[:, best]`, a list of names, `columns=` of `drop`."""
    if isinstance(value, Call):
        return value.keywords.get("columns") if value.method == "drop" else None
    if not isinstance(value, Item):
        return None
    key = resolved(value.key)
    if isinstance(key, Collection) and key.kind == "tuple" and len(key.items) == 2:
        first, key = resolved(key.items[0]), resolved(key.items[1])
        if not isinstance(first, Operation) or first.operator != "slice":
            return None
        return None if isinstance(key, Operation) and key.operator == "slice" else key
    return key if _are_names(key) else None


def _are_names(key: Value) -> bool:
    """`r[r > 0.1].index`, `list(r.index)`, `[name for name in names if …]`."""
    for part in walk(key):
        if isinstance(part, Attribute) and part.name in ("index", "columns"):
            return True
        if isinstance(part, Operation):
            return False
    return False


def _with_fits(program: Program, values: Iterable[Value]) -> Iterator[Value]:
    """Values with what estimators were fitted to whose results, `coef_`, are among them."""
    for value in values:
        yield value
        if isinstance(value, Attribute) and value.name.endswith("_"):
            made = resolved(value.base)
            for event in program.methods_of("fit"):
                if resolved(event.call.receiver) is made and made is not None:
                    yield event.call
                    for argument in event.call.args:
                        yield from walk(argument)


def _asks_target(values: list[Value], aims: Targets) -> ast.AST | None:
    """Where the target itself takes part: the call of a function of the program that is given it, else the first place."""
    found: list[Value] = []
    for value in values:
        direct: tuple[Value, ...] = ()
        if aims.is_one(value):
            direct = ()
        elif isinstance(value, Call):
            direct = value.given
        elif isinstance(value, Operation) and value.operator != "slice":
            direct = value.operands
        if isinstance(value, Item) and column_of(value) in aims.columns and _is_correlation(value.base):
            found.append(value)
        if any(aims.is_one(resolved(each)) for each in direct) and not _only_counts(value):
            if isinstance(value, Call) and value.result is not None:
                return value.node
            found.append(value)
    nodes = [value.node for value in found if value.node is not None]
    return min(nodes, key=lambda node: getattr(node, "lineno", 0), default=None)


def _is_correlation(value: Value) -> bool:
    value = resolved(value)
    return isinstance(value, Call) and value.method in ("corr", "corrwith", "cov")


def _only_counts(value: Value) -> bool:
    """The number of classes or rows says nothing about single ones."""
    return isinstance(value, Call) and value.qualified.rpartition(".")[2] in (
        "len",
        "unique",
        "max",
        "print",
        "set",
        "bincount",
    )
