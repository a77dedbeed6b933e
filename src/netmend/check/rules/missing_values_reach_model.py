from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.history import STORE
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Either,
    Element,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.arrays import same_numbers
from netmend.program.meaning.loaders import drawn
from netmend.program.meaning.operations import LINEAR_MAPS, operation, walk
from netmend.program.meaning.training import rounds

HEAD = """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

table = np.load("stations.npy")
"""
REST = """\
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.tensor(table), labels), batch_size=40, shuffle=True):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""
_SKIPPING = ("nanmean", "nanstd", "nanvar", "nanmedian", "nanmin", "nanmax", "nanpercentile", "nanquantile")
# Any of these anywhere: someone looks after missing values, and where cannot be told for sure.
_CARE = frozenset(
    ("isnan", "isfinite", "nan_to_num", "fillna", "dropna", "isna", "notna", "isnull", "notnull", "interpolate", "SimpleImputer",
     "KNNImputer", "IterativeImputer", "ffill", "bfill", "masked_invalid", "nan_to_num_", "impute", "replace")
)  # fmt: skip


class MissingValuesReachModel(StaticRule, code="S534", cause="PRE-MISS-CLEAN"):
    """Data with missing values (NaN) goes into the network: its statistics skip them, but the rows stay.

    One NaN in a batch makes the loss NaN, the gradients NaN and with the next step every weight of the network. Training is over
    without an error.

    Take the rows out or fill them: `table = table[~np.isnan(table).any(1)]`, or `np.nan_to_num((table - mean) / std)`.
    """

    message = "{0}, and the NaN values reach the network; drop these rows or fill them with np.nan_to_num."
    triggers = (
        "nanmean(",
        "nanstd(",
        "nanmedian(",
        "nanmin(",
        "nanmax(",
        "np.nan",
        "np.NaN",
        "float('nan')",
        'float("nan")',
        "torch.nan",
    )
    needs = "backward"
    patterns = (r"nan(?:mean|std|median|min|max)\(",)

    GOOD = (
        Snippet(
            "rows taken out",
            HEAD
            + "table = table[~np.isnan(table).any(1)]\nmean = np.nanmean(table, 0)\ntable = table - mean\n"
            + REST,
        ),
        Snippet(
            "the statistics only", HEAD + "print(np.nanmean(table[:, 7]))\ntable = table[:, :3]\n" + REST
        ),
    )
    BAD = (
        Snippet("statistics that skip them", HEAD + "mean, std = np.nanmean(table, axis=0), np.nanstd(table, axis=0)\ntable = (table - mean) / std\n" + REST, line=7),
        Snippet("written by hand", HEAD + "table[broken, 2] = np.nan\ntable = table.astype(np.float32)\n" + REST, line=7),
        Snippet("all at once", "import torch\nfrom torch import nn\n\ndef train(x, y, steps):\n    x = (x - torch.nanmean(x)) / 10\n    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
                "    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    for _ in range(steps):\n        opt.zero_grad()\n        nn.functional.mse_loss(net(x), y).backward()\n"
                "        opt.step()\n", line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        if any(_called(event.call) in _CARE for event in program.calls):
            return
        holders = dict(_with_missing(program))
        if not holders:
            return
        for turn in rounds(program):
            for event in turn.backward:
                for value in walk(event.call.receiver):
                    op = operation(resolved(value))
                    if op is None or op.name not in LINEAR_MAPS or op.input is None:
                        continue
                    found = next((part for part in _sources(program, op.input) if id(part) in holders), None)
                    if found is not None:
                        node, words = holders[id(found)]
                        yield self.finding(program, node, self.message.format(words))
                        return


def _called(call: Call) -> str:
    return (call.qualified or call.method).rpartition(".")[2]


def _with_missing(program: Program) -> Iterator[tuple[int, tuple[ast.AST, str]]]:
    """Arrays that are known to hold NaN, with the place that says so."""
    for event in program.events:
        call, target = event.call, event.target
        if call is not None and _called(call) in _SKIPPING:
            of = call.args[0] if call.args and call.qualified else call.receiver
            if of is not None:
                yield id(same_numbers(of)), (event.node, f"{_called(call)} skips missing values of this data")
        elif (
            event.kind == STORE
            and target is not None
            and target.key is not None
            and target.base is not None
            and _is_nan(event.value)
        ):
            yield id(same_numbers(target.base)), (event.node, "NaN is written into this data")


def _is_nan(value: Value) -> bool:
    value = resolved(value)
    if isinstance(value, Name):
        return value.qualified in ("numpy.nan", "numpy.NaN", "math.nan", "torch.nan")
    return (
        isinstance(value, Call)
        and value.qualified == "float"
        and str(constant(value.args[0] if value.args else None)).lower() == "nan"
    )


def _sources(program: Program, value: Value) -> Iterator[Value]:
    """The arrays whose rows reach a layer, all columns, through arithmetic, loaders and cuts over rows."""
    waiting = [value]
    for _ in range(60):
        if not waiting:
            return
        current = same_numbers(waiting.pop())
        yield current
        inner = drawn(program, current)
        if inner is not None:
            waiting.append(inner)
        elif isinstance(current, Operation) and current.operator in ("+", "-", "*", "/"):
            waiting.append(current.operands[0])
        elif isinstance(current, Either):
            return
        elif isinstance(current, Item) and _is_rows(current.key):
            waiting.append(current.base)


def _is_rows(key: Value) -> bool:
    """A slice over rows or an index drawn by a loop; masks and choices of columns may leave the NaN out."""
    key = resolved(key)
    if isinstance(key, Operation):
        return key.operator == "slice"
    return isinstance(key, Element)
