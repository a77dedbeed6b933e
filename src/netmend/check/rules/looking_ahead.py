"""Inputs that hold what the model is to forecast."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.program import Program
from netmend.program.engine.values import resolved
from netmend.program.meaning.inputs_and_targets import Pair, is_changed, pairs
from netmend.program.meaning.reach import (
    BINNED,
    CENTRED,
    FAR,
    FILTERED,
    ROLLED,
    SHIFTED,
    STATISTIC,
    WINDOW,
    Reach,
    covers,
    samples,
)
from netmend.program.meaning.reaches import reader
from netmend.program.meaning.statements import argument_node, with_argument, without_argument
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = """\
import numpy as np
import pandas as pd
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import nn
from torch.utils.data import Dataset, TensorDataset
df = pd.read_csv("load.csv").sort_values("time")
s = df["load"].to_numpy()
"""
FEATURES = """\
x, y = torch.tensor(df[["a", "b"]].to_numpy()), torch.tensor(df["y"].to_numpy())
data = TensorDataset(x, y)
"""
_WORDS = {
    CENTRED: "`{0}` averages rows ahead of its own, so it holds the value that the model is to forecast; let the window end at the row (no center=True).",
    ROLLED: "This window ends at the very row whose value is the target, so the target can be worked out from it; put .shift(1) before it.",
    SHIFTED: "This takes the value of the row that is the target, or of a later one; shift further, towards the past.",
    FILTERED: "This filter looks at both sides of every row, so the inputs hold rows that the target is made of; cut windows first and filter each by itself.",
    STATISTIC: "This statistic of the target holds each row's own target, and that of test rows; take earlier rows or the training part only.",
    BINNED: 'Each bin carries its first moment and holds rows up to its end, so a row sees what comes after it; give resample label="right".',
    WINDOW: "The target is a row of the input window itself, so the model copies it; count it from the end of the window.",
}


class InputHoldsTarget(StaticRule, code="S940", cause="VAL-TEST-LEAK"):
    """An input is computed from the row that is the target: a centred or unshifted rolling window, a two-sided filter, a wrong index.

    The model has the answer among its inputs. Its score is far better than any forecast that is made in time, and nothing of it is
    left in use, where those rows are still to come.

    Let windows end before the target: `shift(1).rolling(24)`, no `center=True`; cut windows before filtering them; count the target
    from the end of its window.
    """

    message = "This input is computed from the row that is the target; let it end before that row."
    triggers = (
        "shift(", "rolling", "ewm(", "expanding(", "sliding_window_view", "unfold(", "transform(", "savgol_filter", "filtfilt", "gaussian_filter",
        "convolve(", "append(", "stack(", ".map(", "__getitem__",
    )  # fmt: skip
    patterns = (
        r"shift\(|rolling|ewm\(|expanding\(|sliding_window_view|transform\(|savgol_filter|filtfilt|gaussian_filter|append\(",
    )

    GOOD = (
        Snippet("the window ends before the target", HEAD + 'df["a"] = df["load"].shift(1).rolling(24).mean()\ndf["b"] = df["load"].shift(1)\ndf["y"] = df["load"]\n' + FEATURES),
        Snippet("the present row, and a target that is ahead", HEAD + 'df["a"] = df["load"].rolling(24).mean()\ndf["b"] = df["load"].diff()\ndf["y"] = df["load"].shift(-6)\n' + FEATURES),
        Snippet("the column becomes the target later", HEAD + 'df["a"] = df["load"].rolling(24).mean()\ndf["b"] = df["load"]\ndf["load"] = df["load"].shift(-1)\n'
                'x, y = torch.tensor(df[["a", "b"]].to_numpy()), torch.tensor(df["load"].to_numpy())\ndata = TensorDataset(x, y)\n'),
        Snippet("signals of a night that is over, stages as target", HEAD + 'df["a"] = df["pulse"].rolling(5, center=True).mean()\ndf["b"] = df["pulse"].shift(-1)\ndf["y"] = df["stage"]\n' + FEATURES),
        Snippet("the next value", HEAD + "X = sliding_window_view(s, 24)[:-1]\ny = s[24:]\ndata = TensorDataset(torch.tensor(X), torch.tensor(y))\n"),
        Snippet("the last place of longer windows", HEAD + "rows = sliding_window_view(s, 25)\ndata = TensorDataset(torch.tensor(rows[:, :-1]), torch.tensor(rows[:, -1]))\n"),
        Snippet("the same window again", HEAD + "rows = torch.tensor(sliding_window_view(s, 24).copy())\ndata = TensorDataset(rows, rows)\n"),
        Snippet("the next word", HEAD + "class Text(Dataset):\n    def __init__(self, ids):\n        self.ids = ids\n\n    def __getitem__(self, i):\n"
                "        return self.ids[i : i + 64], self.ids[i + 1 : i + 65]\n\ndata = Text(s)\n"),
        Snippet("the label of the window's last row", HEAD + "X, y = [], []\nfor i in range(len(s) - 30):\n    X.append(s[i : i + 30])\n    y.append(state[i + 29])\n"
                "data = TensorDataset(torch.tensor(np.array(X)), torch.tensor(y))\n"),
        Snippet("windows are filtered one by one", HEAD + "from scipy.signal import savgol_filter\nX = savgol_filter(sliding_window_view(s, 24)[:-1], 7, 2, axis=1)\n"
                "data = TensorDataset(torch.tensor(X), torch.tensor(s[24:]))\n"),
        Snippet("hidden places of a window", HEAD + "class Gaps(Dataset):\n    def __init__(self, s):\n        self.s = s\n\n    def __getitem__(self, i):\n"
                "        x = self.s[i : i + 9].copy()\n        x[4] = 0.0\n        return x, self.s[i + 4]\n\ndata = Gaps(s)\n"),
        Snippet("hours that have ended", HEAD + 'hours = df.set_index("time")["load"].resample("1h", label="right").mean().reset_index(name="a")\n'
                'df["y"] = df["load"].shift(-4)\nm = pd.merge_asof(df, hours, on="time")\ndata = TensorDataset(torch.tensor(m[["a", "b"]].to_numpy()), torch.tensor(m["y"].to_numpy()))\n'),
        Snippet("the target is taken out of the table", HEAD + 'df["y"] = df["load"].shift(-1)\ndf = df.dropna()\ny = df.pop("y").to_numpy()\ndata = TensorDataset(torch.tensor(df.to_numpy()), torch.tensor(y))\n'),
        Snippet("each row's distance from its group", HEAD + 'load = df["load"] - df.groupby("site")["load"].transform("mean")\ndf["a"], df["b"] = load.shift(1), load.shift(2)\ndf["y"] = load\n' + FEATURES),
    )  # fmt: skip
    BAD = (
        mended("a centred window", HEAD + 'df["a"] = df["load"].rolling(⟨5, center=True → 5⟩).mean()\ndf["b"] = df["load"]\ndf["y"] = df["load"].shift(-1)\n' + FEATURES),
        mended("the present row in the window", HEAD + 'for k in (1, 2, 3):\n    df["b"] = df["load"].shift(k)\ndf["a"] = ⟨df["load"].rolling → df["load"].shift(1).rolling⟩(24).mean()\ndf["y"] = df["load"]\n' + FEATURES),
        Snippet("an expanding mean of each group", HEAD + 'df["a"] = df.groupby("site")["load"].transform(lambda v: v.expanding().mean())\ndf["b"] = 0\ndf["y"] = df["load"]\n' + FEATURES, line=9),
        Snippet("in assign", HEAD + 'df = df.assign(a=lambda d: d["load"].rolling(7, center=True).mean(), y=lambda d: d["load"].shift(-1))\ndf["b"] = 0\n' + FEATURES, line=9),
        Snippet("an average that fades", HEAD + 'df["a"] = df["load"].ewm(span=5).mean()\ndf["b"] = 0\ny = df.pop("load").to_numpy()\ndata = TensorDataset(torch.tensor(df[["a", "b"]].to_numpy()), torch.tensor(y))\n', line=9),
        Snippet("the mean of the target in each group", HEAD + 'df["a"] = df.groupby("site")["y"].transform("mean")\ndf["b"] = df["load"]\n' + FEATURES, line=9),
        Snippet("a mapped mean of the target", HEAD + 'df["a"] = df["site"].map(df.groupby("site")["y"].mean())\ndf["b"] = df["load"]\n' + FEATURES, line=9),
        Snippet("the whole series is smoothed", HEAD + "from scipy.ndimage import gaussian_filter1d\nsmooth = gaussian_filter1d(s, 3)\nX, y = [], []\n"
                "for i in range(48, len(s)):\n    X.append(smooth[i - 48 : i])\n    y.append(s[i])\ndata = TensorDataset(torch.tensor(np.array(X)), torch.tensor(y))\n", line=10),
        Snippet("an index from the window's start", HEAD + "PAST, AHEAD = 24, 6\nX = sliding_window_view(s, PAST)[:-AHEAD]\ny = s[AHEAD:][: len(X)]\ndata = TensorDataset(torch.tensor(X), torch.tensor(y))\n", line=11),
        Snippet("the last value of the window", HEAD + "class Windows(Dataset):\n    def __init__(self, s, past):\n        self.s, self.past = s, past\n\n    def __getitem__(self, i):\n"
                "        x = self.s[i : i + self.past]\n        y = self.s[i + self.past - 1]\n        return x, y\n\ndata = Windows(s, 24)\n", line=15),
        Snippet("lists of windows", HEAD + "def windows(series, past):\n    X, y = [], []\n    for i in range(len(series) - past):\n        X.append(series[i : i + past])\n"
                "        y.append(series[i + past - 1])\n    return np.array(X), np.array(y)\n\nX, y = windows(s, 48)\n", line=13),
        mended("hours that have not ended", HEAD + 'hours = df.set_index("time")["load"].resample(⟨"1h" → "1h", label="right"⟩).mean().reset_index(name="a")\n'
               'df["y"] = df["load"].shift(-4)\nm = pd.merge_asof(df, hours, on="time")\ndata = TensorDataset(torch.tensor(m[["a", "b"]].to_numpy()), torch.tensor(m["y"].to_numpy()))\n'),
        Snippet("polars", 'import polars as pl\nimport torch\nfrom torch.utils.data import TensorDataset\ndf = pl.read_csv("sales.csv").sort("day")\ndf = df.with_columns(\n'
                '    pl.col("units").shift(7).alias("lag"),\n    pl.col("units").rolling_mean(7).alias("mean"),\n)\n'
                'data = TensorDataset(torch.tensor(df.select("lag", "mean").to_numpy()), torch.tensor(df["units"].to_numpy()))\n', line=7),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        seen: set[int] = set()
        for pair in pairs(program):
            for leak in leaks(program, pair):
                if leak.node is not None and id(leak.node) not in seen:
                    seen.add(id(leak.node))
                    words = _WORDS[leak.input.how].format(leak.input.name or "This window")
                    yield self.finding(
                        program,
                        leak.node,
                        words.replace("`This window`", "This window"),
                        fix=_fix(program, leak),
                    )


@dataclass(frozen=True)
class Leak:
    """An input that reaches the target's row."""

    input: Reach
    target: Reach
    node: ast.AST | None


def leaks(program: Program, pair: Pair) -> Iterator[Leak]:
    read = reader(program)
    given = [reach for value in pair.inputs for reach in read.read(value)]
    wanted = list(read.read(pair.target))
    if pair.is_sample:
        given, wanted = list(samples(given)), list(samples(wanted))
    for reach in given:
        same = [
            target for target in wanted if target.root == reach.root and covers(reach.places, target.places)
        ]
        is_target = reach.node is not None and any(target.node is reach.node for target in wanted)
        if is_target or (not pair.is_told and reach.how != WINDOW):
            continue
        if not same or not reach.how or not all(_is_held(reach, target) for target in same):
            continue
        if reach.node is not None:
            yield Leak(reach, same[0], reach.node)
        elif not any(is_changed(program, value) for value in pair.inputs):
            yield Leak(reach, same[0], same[0].cut or resolved(pair.target).node)


def _is_held(given: Reach, target: Reach) -> bool:
    """Is the latest row that the target tells of among those that the input is computed from?"""
    if given.how in (STATISTIC, BINNED):
        at = given.high - FAR
        if given.how == STATISTIC:
            return target.how == "" and target.low == target.high == at and target.inner is None
        return (target.latest - at).is_at_least(0)
    if target.inner is not None and (target.low - given.low).is_at_most(1):
        return False  # the window again, or moved by one place
    return (given.end - target.latest).is_at_least(0)


def _fix(program: Program, leak: Leak) -> Fix | None:
    """What can be mended where the window is written."""
    node = leak.node
    step = node
    while (
        isinstance(step, ast.Call)
        and isinstance(step.func, ast.Attribute)
        and step.func.attr not in ("rolling", "expanding", "resample")
    ):
        step = step.func.value
    if not isinstance(step, ast.Call) or not isinstance(step.func, ast.Attribute):
        return None
    series = step.func.value
    if leak.input.how == CENTRED and argument_node(step, "center") is not None:
        return Fix("Let the window end at the row", without_argument(program, step, "center"))
    if leak.input.how == BINNED and step.func.attr == "resample":
        return Fix("Label each bin with its end", with_argument(program, step, "label", '"right"'))
    if leak.input.how == ROLLED and not leak.input.grouped and not leak.input.backwards:
        return Fix(
            "Leave the present row out", replace(program, series, f"{program.source(series)}.shift(1)")
        )
    return None
