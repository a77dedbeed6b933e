"""Rows of a series that share values with their neighbours, divided at random."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Collection, Instance, resolved
from netmend.program.meaning.arrays import SPLIT
from netmend.program.meaning.batches import sample_of_dataset, spread
from netmend.program.meaning.offsets import ROW, Offset, is_of_row
from netmend.program.meaning.random_splits import RandomSplit, random_splits
from netmend.program.meaning.reach import ROLLED, SHIFTED, Reach, samples
from netmend.program.meaning.reaches import reader
from netmend.program.meaning.statements import with_argument
from netmend.vocabulary.finding import Fix

HEAD = """\
import numpy as np
import pandas as pd
import torch
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.model_selection import KFold, TimeSeriesSplit, train_test_split
from torch.utils.data import Dataset, Subset, TensorDataset, random_split
s = np.load("series.npy")
df = pd.read_csv("load.csv")
"""
CLASS = """\
class Windows(Dataset):
    def __init__(self, signal, state, length, step):
        self.signal, self.state, self.length, self.step = signal, state, length, step

    def __len__(self):
        return (len(self.signal) - self.length) // self.step

    def __getitem__(self, i):
        start = i * self.step
        return self.signal[start : start + self.length], self.state[start]

"""
LAGS = 'df["lag"] = df["load"].shift(1)\ndf["day"] = df["load"].shift(24)\ndf = df.dropna()\nX, y = df[["lag", "day"]], df["load"]\n'


class SeriesSplitAtRandom(StaticRule, code="S941", cause="VAL-SPLIT"):
    """Overlapping windows of one series, or rows that carry its lags, are divided at random into training and test part.

    Neighbours share most of their values, and the target of a test row is an input of training rows. The network recognises the
    places between which it is asked; the score says little about a later stretch of the series.

    Divide in time: the first rows for training, the last ones for the test, with a gap of one window between them.
    """

    message = "Rows that overlap their neighbours are divided at random, so the test part shares values with training; divide in time, with a gap of one window."
    triggers = (
        "train_test_split(",
        "random_split(",
        "permutation(",
        "randperm(",
        "shuffle=True",
        ".split(",
        "shuffle(",
    )
    patterns = (r"train_test_split\(|random_split\(|permutation\(|randperm\(|shuffle",)

    GOOD = (
        Snippet("in time", HEAD + CLASS + "data = Windows(s, s, 128, 24)\ntrain, test = Subset(data, range(800)), Subset(data, range(810, 1000))\n"),
        Snippet("windows side by side", HEAD + CLASS + "data = Windows(s, s, 128, 128)\ntrain, test = random_split(data, [800, 200])\n"),
        Snippet("shuffle is off", HEAD + "X, y = sliding_window_view(s, 24)[:-1], s[24:]\na, b, c, d = train_test_split(X, y, test_size=0.2, shuffle=False)\n"),
        Snippet("split before windows are cut", HEAD + "rows, rest = train_test_split(recordings)\nX = [r[i : i + 24] for r in rows for i in range(0, 100, 6)]\n"),
        Snippet("samples that are recordings", HEAD + "X, y = s[:, 20:], labels\na, b, c, d = train_test_split(X, y)\n"),
        Snippet("rows of the same time only", HEAD + 'X, y = df[["out", "sun"]].to_numpy(), df["inside"].to_numpy()\na, b, c, d = train_test_split(X, y)\n'),
        Snippet("lags, and a split in time", HEAD + LAGS + "for train, test in TimeSeriesSplit(5).split(X, y):\n    pass\n"),
        Snippet("the order is mixed within the training part", HEAD + "X = sliding_window_view(s, 24)\nX_train, X_test = X[:800], X[830:]\norder = np.random.permutation(len(X_train))\nX_train = X_train[order]\n"),
    )  # fmt: skip
    BAD = (
        Snippet("overlapping windows", HEAD + CLASS + "data = Windows(s, s, 128, 24)\ntrain, test = random_split(data, [800, 200])\n", line=21),
        mended("windows at every row", HEAD + "X, y = sliding_window_view(s, 24)[:-1], s[24:]\na, b, c, d = train_test_split(X, y, ⟨test_size=0.2 → test_size=0.2, shuffle=False⟩)\n"),
        Snippet("a list of windows", HEAD + "def windows(v, n=50, step=10):\n    X, y = [], []\n    for i in range(0, len(v) - n, step):\n        X.append(v[i : i + n])\n        y.append(v[i + n])\n"
                "    return np.array(X), np.array(y)\n\nX, y = windows(s)\norder = np.random.permutation(len(X))\nk = int(len(X) * 0.8)\nX_train, X_test = X[order[:k]], X[order[k:]]\n", line=17),
        mended("lags of the target", HEAD + LAGS + "a, b, c, d = train_test_split(X, y, ⟨test_size=0.2 → test_size=0.2, shuffle=False⟩)\n"),
        Snippet("folds in any order", HEAD + "X, y = sliding_window_view(s, 24)[:-1], s[24:]\nfor train, test in KFold(5, shuffle=True).split(X, y):\n    a, b = X[train], X[test]\n", line=10),
        Snippet("windows of a tensor", HEAD + "t = torch.from_numpy(s)\ndata = TensorDataset(t.unfold(0, 32, 1)[:-1], t[32:])\ntrain, test = random_split(data, [0.8, 0.2])\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for split in random_splits(program):
            if any(_overlaps(reach) for reach in _rows(program, split)) or _has_lags(program, split):
                yield self.finding(program, split.node, fix=_fix(program, split))


def _rows(program: Program, split: RandomSplit) -> Iterator[Reach]:
    """How far one row of what is divided reaches."""
    read = reader(program)
    for value in split.data:
        value = resolved(value)
        if isinstance(value, Instance):
            sample = sample_of_dataset(program, value)
            parts = sample.items if isinstance(sample, Collection) else []
            yield from samples(reach for part in parts for reach in read.read(part))
        elif isinstance(value, Call) and value.qualified == "torch.utils.data.TensorDataset":
            yield from (reach for part in spread(value) for reach in read.read(part))
        else:
            yield from read.read(value)


def _overlaps(reach: Reach) -> bool:
    """Does a window share rows with the next one, for certain?"""
    if reach.inner is None:
        return False
    step = _step(reach)
    if step is None:
        return False
    if step == Offset(1):
        return not reach.inner.is_number or reach.inner.number > 1
    return (reach.inner - step).is_at_least(1)


def _step(reach: Reach) -> Offset | None:
    """Rows from one window to the next; None where it is not told."""
    if reach.is_series:
        return reach.stride or (None if reach.low.symbols - _lengths(reach) else Offset(1))
    rows = [(key, count) for key, count in reach.low.symbols if is_of_row(key)]
    if len(rows) != 1:
        return None
    key, count = rows[0]
    return Offset(count) if isinstance(key, tuple) and key[0] == ROW else None


def _lengths(reach: Reach) -> frozenset[tuple[Hashable, int]]:
    """What of a place is the same for all rows."""
    return frozenset(pair for pair in reach.low.symbols if not is_of_row(pair[0]))


def _has_lags(program: Program, split: RandomSplit) -> bool:
    """Are there inputs with earlier rows of the very series that the target is a row of?"""
    if len(split.data) < 2:
        return False
    read = reader(program)
    targets = {reach.root for reach in read.read(split.data[-1])}
    return any(
        reach.root in targets and reach.how in (SHIFTED, ROLLED) and not reach.grouped
        for value in split.data[:-1]
        for reach in read.read(value)
    )


def _fix(program: Program, split: RandomSplit) -> Fix | None:
    node = split.node
    called = [event.call for event in program.calls_of(SPLIT) if event.node is node]
    if not called or "stratify" in called[0].keywords:
        return None
    return Fix(
        "Keep the order, so that the last rows are the test part",
        with_argument(program, node, "shuffle", "False"),
    )
