"""Inputs that the targets of the evaluated rows have had a part in."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import StoreEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Collection,
    Function,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.fitting import fitted_within
from netmend.program.meaning.operations import walk
from netmend.program.meaning.partitions import partitions
from netmend.program.meaning.rows import LOCATORS, columns_stored, holds_all, is_part, made_of, rows_of
from netmend.program.meaning.tables import texts_of_arguments, written_texts
from netmend.program.meaning.targets import Targets, column_of, input_columns, names_within, targets

HEAD = """\
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv("a.csv")
"""
FIT = """\
net = torch.nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
x, y = torch.tensor(train.drop(columns="price").values), torch.tensor(train["price"].values)
opt.zero_grad()
torch.nn.functional.mse_loss(net(x), y).backward()
opt.step()
"""
PARTS = "train, test = train_test_split(df, random_state=0)\n" + FIT
_STATISTICS = frozenset(
    ("mean", "sum", "median", "std", "var", "max", "min", "agg", "aggregate", "transform", "apply", "quantile", "map_groups")
)  # fmt: skip
_COUNTS = ("count", "size", "nunique", "cumcount")
# What looks at earlier rows only, or leaves out the row itself.
_EARLIER = frozenset(
    ("shift", "expanding", "rolling", "cumsum", "cummean", "cum_sum", "ewm", "diff", "ffill", "cumcount")
)


class TargetStatisticOfAllRows(StaticRule, code="S950", cause="VAL-TEST-LEAK"):
    """A column of the inputs is a statistic of the targets, or filled by them, over rows that are evaluated later.

    The mean price of a city that a row lies in contains the row's own price, in the test part as well; gaps that are filled with
    the median of the ill and of the healthy say who is ill. For new rows the answer is not there to be used, and the test result is
    far too good.

    Split first; compute the statistic from the training part and map it onto the others. Fill gaps without looking at the target.
    """

    message = "A statistic of the target `{}` over all rows becomes an input, so every row carries a part of its own answer; compute it from the training part only and map it onto the other rows."
    by_target = "This fills or writes inputs by the target `{}`, in the rows that are evaluated too; use statistics of the training part that do not look at the target."
    triggers = ("groupby", "group_by", "pivot_table", ".over(", ".loc[", "fillna", "where(")
    patterns = (r"groupby\(|group_by\(|pivot_table\(|\.over\(",)

    GOOD = (
        Snippet("of the training part", HEAD + "train, test = train_test_split(df, random_state=0)\nmeans = train.groupby('city')['price'].mean()\n"
                "train['level'] = train['city'].map(means)\ntest['level'] = test['city'].map(means)\n" + FIT),
        Snippet("of another column", HEAD + "df['level'] = df.groupby('city')['area'].transform('mean')\n" + PARTS),
        Snippet("of earlier years", HEAD + "past = df[df.year < 2015]\ndf = df[df.year >= 2015]\ndf['level'] = df['city'].map(past.groupby('city')['price'].mean())\n" + PARTS),
        Snippet("of earlier rows", HEAD + "df['level'] = df.groupby('city')['price'].transform(lambda p: p.shift().expanding().mean())\n" + PARTS),
        Snippet("only printed", HEAD + "print(df.groupby('city')['price'].mean())\n" + PARTS),
        Snippet("without the row itself", HEAD + "each = df.groupby('city')['price']\ndf['level'] = (each.transform('sum') - df['price']) / (each.transform('count') - 1)\n" + PARTS),
        Snippet("the target itself", HEAD + "df['price'] = df['price'] - df.groupby('city')['price'].transform('mean')\n" + PARTS),
        Snippet("as many of each class", HEAD + "df = df.groupby('price').sample(50)\n" + PARTS),
        Snippet("a table of means", HEAD + "print(df.groupby('ill')['area'].mean())\ny = df.pop('ill')\nparts = train_test_split(df, y)\n"),
        Snippet("gaps by another column", HEAD + "df['area'] = df['area'].fillna(df.groupby('city')['area'].transform('median'))\n" + PARTS),
    )  # fmt: skip
    BAD = (
        Snippet("transform", HEAD + "df['level'] = df.groupby('city')['price'].transform('mean')\n" + PARTS, line=6),
        Snippet("mapped", HEAD + "means = df.groupby('city').price.mean()\ndf['level'] = df['city'].map(means)\n" + PARTS, line=6),
        Snippet("merged", HEAD + "stats = df.groupby('city').agg(level=('price', 'mean')).reset_index()\ndf = df.merge(stats, on='city')\n" + PARTS, line=6),
        Snippet("gaps filled by class", HEAD + "target = 'price'\ndf['area'] = df['area'].fillna(df.groupby(target)['area'].transform('median'))\n" + PARTS, line=7),
        Snippet("a function for each class", HEAD + "for c in ['area', 'rooms']:\n    df[c] = df.groupby('ill')[c].transform(lambda s: s.fillna(s.mean()))\n"
                "y = df.pop('ill')\nparts = train_test_split(df, y)\n", line=7),
        Snippet("written by class", HEAD + "df.loc[(df['price'] == 0) & df['area'].isna(), 'area'] = 102.5\n" + PARTS, line=6),
        Snippet("in folds", HEAD + "df['level'] = df['city'].map(df.groupby('city')['price'].mean())\nX, y = df.drop(columns='price').values, df['price'].values\n"
                "for tr, te in KFold(5).split(X, y):\n    print(X[tr], y[te])\n", line=6),
        Snippet("polars", "import polars as pl\nimport torch\nfrom sklearn.model_selection import train_test_split\n\ndef load(path):\n    df = pl.read_csv(path)\n"
                "    rates = df.group_by('city').agg(pl.col('price').mean().alias('level'))\n    return df.join(rates, on='city', how='left')\n\n"
                "train, test = train_test_split(load('a.csv'))\nnet = torch.nn.Linear(3, 1)\ntorch.nn.functional.mse_loss(net(train.drop('price').to_torch()), train['price'].to_torch()).backward()\n", line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        aims = targets(program)
        if not aims:
            return
        for partition in partitions(program):
            until = partition.event.order
            for data in partition.inputs:
                parts = list(made_of(program, data, until))
                for part in parts:
                    name = _aggregated(program, part, aims, parts, data)
                    if name is not None:
                        words, column = name
                        yield self.finding(
                            program,
                            part.node,
                            (self.message if words else self.by_target).format(column),
                            see=[("The data is split here.", partition.event.node)],
                        )
                    for event in columns_stored(program, part):
                        if event.order < until and _written_by(program, event, aims):
                            yield self.finding(program, event.node, self.by_target.format(_named(aims)))


def _named(aims: Targets) -> str:
    return min(aims.columns, default="y")


def _aggregated(
    program: Program, part: Value, aims: Targets, parts: list[Value], data: Value
) -> tuple[bool, str] | None:
    """For a statistic by groups: is it of the target (else by the target), and of which column?"""
    if not isinstance(part, Call) or part.method not in _STATISTICS or part.result is not None:
        return None
    found = _grouping(part)
    if found is None:
        return None
    grouping, columns = found
    told = frozenset(columns) or names_within_arguments(part)
    of_target = told & aims.columns
    by_target = frozenset(texts_of_arguments(grouping)) & aims.columns
    counts = any(constant(resolved(value)) in _COUNTS for value in part.args)
    if counts or (not of_target and not by_target):
        return None
    if (
        _looks_back(part)
        or not _is_input(program, part, aims)
        or not holds_all(program, grouping.receiver or part, data)
    ):
        return None
    if of_target and any(_leaves_out_itself(each, part, aims) for each in parts):
        return None
    return bool(of_target), min(of_target or by_target)


def _grouping(call: Call) -> tuple[Call, tuple[str, ...]] | None:
    """The `groupby(…)` behind `df.groupby("a")["b"].mean()`, and the columns that were picked from it."""
    columns: tuple[str, ...] = ()
    value = resolved(call.receiver)
    for _ in range(4):
        if isinstance(value, Call) and value.method in ("groupby", "group_by"):
            return value, columns
        if isinstance(value, Item):
            columns = written_texts(value.key) or columns
            value = resolved(value.base)
        elif isinstance(value, Attribute):
            columns = (value.name,)
            value = resolved(value.base)
        else:
            break
    return None


def names_within_arguments(call: Call) -> frozenset[str]:
    """Columns that `agg(pl.col("a").mean())`, `agg({"a": "mean"})` and `agg(b=("a", "mean"))` are about."""
    found: set[str] = set()
    for value in call.given:
        inner = resolved(value)
        if isinstance(inner, Collection) and inner.keys is not None:
            found |= {name for key in inner.keys for name in names_within(key)}
        elif isinstance(inner, Collection) and inner.kind == "tuple":
            found |= names_within(inner.items[0]) if inner.items else set()
        else:
            found |= {name for part in walk(inner) if isinstance(part, Call) and (name := column_of(part))}
    return frozenset(found)


def _looks_back(call: Call) -> bool:
    """Does a function that is applied to the groups look at earlier rows only?"""
    for value in call.given:
        inner = resolved(value)
        if isinstance(inner, Function):
            names = {getattr(node, "attr", "") for node in ast.walk(inner.definition)}
            if names & (_EARLIER | {"sample", "head", "tail"}):
                return True
    return any(isinstance(part, Call) and part.method in _EARLIER for part in walk(call))


def _leaves_out_itself(value: Value, statistic: Call, aims: Targets) -> bool:
    """`(total - df["price"]) / (count - 1)`."""
    if not isinstance(value, Operation) or value.operator != "-" or len(value.operands) != 2:
        return False
    left, right = value.operands
    return aims.is_one(resolved(right)) and any(part is statistic for part in walk(left))


def _is_input(program: Program, statistic: Call, aims: Targets) -> bool:
    """Is the column that a statistic is stored in one that the model may be given?"""
    known = input_columns(program)
    stored = [
        event
        for event in program.stores
        if event.target.key is not None and any(part is statistic for part in walk(event.value))
    ]
    names = [name for event in stored for name in written_texts(event.target.key)]
    if not names:
        return True
    return any(name not in aims.columns and (known is None or name in known) for name in names)


def _written_by(program: Program, event: StoreEvent, aims: Targets) -> bool:
    """`df.loc[df.y == 1, "a"] = …`, `X[y == 1] = …`: inputs written where the target says so."""
    key, base = resolved(event.target.key), resolved(event.target.base)
    if key is None or base is None:
        return False
    if isinstance(base, Attribute) and base.name in LOCATORS:
        if not isinstance(key, Collection) or len(key.items) != 2:
            return False
        names = written_texts(key.items[1])
        known = input_columns(program)
        if not names or set(names) & aims.columns or (known is not None and not set(names) & known):
            return False
        key = resolved(key.items[0])
        base = resolved(base.base)
    elif aims.is_one(base) or isinstance(base, Collection):
        return False
    conditions = [
        part
        for part in walk(key)
        if isinstance(part, Operation) and part.operator in ("==", "!=", ">", "<", ">=", "<=")
    ]
    asked = any(aims.is_one(resolved(side)) for condition in conditions for side in condition.operands)
    return asked and not any(is_part(part) for part in walk(base))


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
    return is_part(value) and any(id(part) in whole for part in rows_of(program, value)[1:])


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
    """The first place where the target itself takes part."""
    found: list[Value] = []
    for value in values:
        direct: tuple[Value, ...] = ()
        if isinstance(value, Call) and value.result is None:
            direct = value.given
        elif isinstance(value, Operation) and value.operator != "slice":
            direct = value.operands
        elif isinstance(value, Item) and column_of(value) in aims.columns and _is_correlation(value.base):
            found.append(value)
        if any(aims.is_one(resolved(each)) for each in direct) and not _only_counts(value):
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
