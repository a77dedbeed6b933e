"""Inputs that the targets of the evaluated rows have had a part in."""

from __future__ import annotations

import ast

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
from netmend.program.meaning.operations import walk
from netmend.program.meaning.partitions import partitions
from netmend.program.meaning.rows import LOCATORS, columns_stored, holds_all, is_part, made_of
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
        Snippet("polars, over groups", "import polars as pl\nimport torch\nfrom sklearn.model_selection import train_test_split\n"
                "df = pl.read_csv('a.csv').with_columns(pl.col('price').mean().over('city').alias('level'))\ntrain, test = train_test_split(df)\n"
                "net = torch.nn.Linear(3, 1)\ntorch.nn.functional.mse_loss(net(train.drop('price').to_torch()), train['price'].to_torch()).backward()\n", line=4),
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
    if isinstance(part, Call) and part.method in ("with_columns", "select") and part.result is None:
        return _windowed(program, part, aims, data)
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


def _windowed(program: Program, call: Call, aims: Targets, data: Value) -> tuple[bool, str] | None:
    """`df.with_columns(pl.col("price").mean().over("city"))`"""
    for value in call.given:
        for part in walk(value):
            if not isinstance(part, Call) or part.method != "over":
                continue
            inner = resolved(part.receiver)
            while isinstance(inner, Call) and inner.method in ("alias", "cast", "round"):
                inner = resolved(inner.receiver)
            is_statistic = isinstance(inner, Call) and inner.method in _STATISTICS
            column = column_of(resolved(inner.receiver)) if is_statistic and isinstance(inner, Call) else None
            if column in aims.columns and column is not None and call.receiver is not None:
                return (True, column) if holds_all(program, call.receiver, data) else None
    return None


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
    return asked and not any(is_part(program, part) for part in walk(base))
