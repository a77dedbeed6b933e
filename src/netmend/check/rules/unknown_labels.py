"""Answers that nobody gave, taught as the answer no."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Call,
    Collection,
    Const,
    Item,
    Name,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.inputs_and_targets import pairs
from netmend.program.meaning.losses import loss_uses
from netmend.program.meaning.operations import reached
from netmend.program.meaning.parts import flows
from netmend.program.meaning.training import backward_calls, loss_of

HEAD = """\
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn

FINDINGS = ["edema", "nodule"]
df = pd.read_csv("reports.csv")
x = torch.tensor(df[["a", "b"]].to_numpy(np.float32))
"""
TRAINING = """
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    for b in torch.randperm(len(x)).split(20):
        loss = {0}
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
PLAIN = TRAINING.format("F.binary_cross_entropy_with_logits(net(x[b]), y[b])")
DATASET = """\
class Films(torch.utils.data.Dataset):
    def __init__(self, df):
        self.x = df[["a", "b"]].values
        labels = df[FINDINGS].values
        labels = np.nan_to_num(labels)
        labels[labels == -1] = 0
        self.y = labels

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.tensor(self.x[i]), torch.tensor(self.y[i])

net, criterion = nn.Linear(2, 2), nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters())
for a, y in torch.utils.data.DataLoader(Films(df), batch_size=8, shuffle=True):
    opt.zero_grad()
    criterion(net(a), y).backward()
    opt.step()
"""
_YES_NO = ("bce", "bce_logits", "multilabel_soft_margin")
_EMPTY = frozenset(
    ("isna", "notna", "isnull", "notnull", "isnan", "is_null", "is_not_null", "is_nan", "isfinite")
)
_NULL = ("numpy.nan", "math.nan", "numpy.NaN")


class UnknownTaughtAsNo(StaticRule, code="S932", cause="DAT-LABEL"):
    """Empty labels and a code below zero (-1 for "uncertain") both become 0, and all of them are trained as a no.

    The table tells three things apart: yes, no, and not known. What is not known is yes in some of the rows; the network is taught to say no
    there, and learns to say it in general.

    Keep them apart, and leave them out of the loss: `y = labels.fillna(-1)`, `known = y >= 0`, `loss(logits[known], y[known])`.
    """

    message = "Empty labels and codes below zero both become 0 here and are trained as a no; keep them as -1, and take the loss of y >= 0 only."
    triggers = ("backward(", "fillna(", "nan_to_num(", "fill_null(", "replace(")
    needs = "backward"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet("left out of the loss", HEAD + "y = torch.tensor(df[FINDINGS].fillna(-1).values)\n" + TRAINING.format(
            "F.binary_cross_entropy_with_logits(net(x[b])[y[b] >= 0], y[b][y[b] >= 0])")),
        Snippet("weighted by what is known", HEAD + "known = torch.tensor(df[FINDINGS].ge(0).values).float()\ny = torch.tensor(df[FINDINGS].fillna(0).clip(lower=0).values)\n"
                + TRAINING.format("F.binary_cross_entropy_with_logits(net(x[b]), y[b], weight=known[b])")),
        Snippet("counted only where it is known", HEAD + "known = torch.tensor(df[FINDINGS].notna().values)\ny = torch.tensor(df[FINDINGS].fillna(0).clip(lower=0).values)\n"
                + TRAINING.format('(F.binary_cross_entropy_with_logits(net(x[b]), y[b], reduction="none") * known[b]).mean()')),
        Snippet("inputs, not labels", HEAD + 'x = torch.tensor(df[["a", "b"]].fillna(0).clip(lower=0).values)\ny = torch.tensor(df[FINDINGS].values)\n' + PLAIN),
        Snippet("two sides, as a hinge loss has them", HEAD + "y = torch.tensor(df[FINDINGS].replace(-1, 0).values)\n" + PLAIN),
        Snippet("what is not ticked is empty", HEAD + "y = torch.tensor(df[FINDINGS].fillna(0).values)\n" + PLAIN),
    )  # fmt: skip
    BAD = (
        Snippet("filled and cut off", HEAD + "y = torch.tensor(df[FINDINGS].fillna(0).clip(lower=0).to_numpy(np.float32))\n" + PLAIN, line=10),
        Snippet("replaced, column by column", HEAD + "df[FINDINGS] = df[FINDINGS].replace(-1, 0)\nlabels = df[FINDINGS].fillna(0).values\ny = torch.tensor(labels)\n" + PLAIN, line=11),
        Snippet("both at once", HEAD + "y = torch.tensor(df[FINDINGS].replace({np.nan: 0, -1: 0}).values)\n" + PLAIN, line=10),
        Snippet("an array in a data set", HEAD + DATASET, line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        uses = [use for use in loss_uses(program) if use.kind in _YES_NO]
        if not uses or any(use.option("weight") is not None for use in uses):
            return
        flow = flows(program)
        told: set[int] = set()
        for pair in pairs(program):
            chain = {id(part): part for part in reached(pair.target, flow.sources)}
            asked = {id(part) for given in pair.inputs for part in reached(given, flow.sources)}
            own = [part for key, part in chain.items() if key not in asked]
            node = next(_both(program, own), None)
            if node is None or node.node is None or id(node.node) in told or _is_masked(program, chain):
                continue
            told.add(id(node.node))
            yield self.finding(program, node.node)


def _both(program: Program, chain: list[Value]) -> Iterator[Value]:
    """Where the second of the two becomes 0."""
    for part in chain:
        empty, below = _fills_empty(part), _lifts(program, part)
        if not (empty or below):
            continue
        before = list(_before(program, part))
        empty = empty or any(map(_fills_empty, before))
        if empty and (below or any(_lifts(program, inner) for inner in before)):
            yield part


def _before(program: Program, value: Value) -> Iterator[Value]:
    before = reached(value, flows(program).sources)
    next(before)
    return before


def _is_zero(value: Value | None) -> bool:
    number = constant(value)
    return isinstance(number, int | float) and number == 0


def _fills_empty(value: Value) -> bool:
    if not isinstance(value, Call):
        return False
    if value.method in ("fillna", "fill_null", "fill_nan"):
        return _is_zero(value.argument("value", 0))
    if value.method == "nan_to_num" or value.qualified in ("numpy.nan_to_num", "torch.nan_to_num"):
        given = value.keywords.get("nan")
        return given is None or _is_zero(given)
    return value.method == "replace" and any(_is_null(old) for old in _replaced_by_zero(value))


def _lifts(program: Program, value: Value) -> bool:
    """Do codes below zero become zero?"""
    if any(_is_zero(new) and _is_below(key) for key, new in flows(program).stored.get(id(value), ())):
        return True
    if not isinstance(value, Call):
        return False
    name = value.method or value.qualified.rpartition(".")[2]
    first = 0 if value.method else 1
    if name in ("clip", "clamp", "clip_", "clamp_"):
        low = next(
            (
                value.keywords[key]
                for key in ("lower", "min", "a_min", "lower_bound")
                if key in value.keywords
            ),
            None,
        )
        return _is_zero(low if low is not None else value.argument("", first))
    if name in ("maximum", "clamp_min", "clip_lower"):
        return any(_is_zero(given) for given in value.args)
    if name == "where" and value.qualified and len(value.args) == 3:
        return _is_below(value.args[0]) and _is_zero(value.args[1])
    return name == "replace" and any(_negative(old) for old in _replaced_by_zero(value))


def _is_below(key: Value | None) -> bool:
    """`y < 0`, `y == -1`"""
    key = resolved(key)
    if not isinstance(key, Operation) or len(key.operands) != 2:
        return False
    limit = key.operands[1]
    return (key.operator == "==" and _negative(limit)) or (key.operator == "<" and _is_zero(limit))


def _negative(value: Value | None) -> bool:
    number = constant(value)
    return isinstance(number, int | float) and number < 0


def _is_null(value: Value | None) -> bool:
    value = resolved(value)
    return (isinstance(value, Name) and value.qualified in _NULL) or (
        isinstance(value, Const) and value.value is None
    )


def _replaced_by_zero(call: Call) -> Iterator[Value]:
    old, new = resolved(call.argument("to_replace", 0)), call.argument("value", 1)
    if isinstance(old, Collection) and old.kind == "dict":
        yield from (
            key
            for key, to in zip(old.keys or (), old.items, strict=False)
            if key is not None and _is_zero(to)
        )
    elif old is not None and _is_zero(new):
        yield from old.items if isinstance(old, Collection) else (old,)


def _is_masked(program: Program, chain: dict[int, Value]) -> bool:
    """Does the loss look at what is known, beside the labels themselves?"""
    flow = flows(program)
    for event in backward_calls(program):
        for part in reached(loss_of(event), flow.sources):
            if id(part) in chain and not isinstance(part, Item):
                continue
            if isinstance(part, Call) and (part.method or part.qualified.rpartition(".")[2]) in _EMPTY:
                return True
            if _compares(part) and not _stored_where(program, part):
                return True
            if isinstance(part, Call) and part.method in ("ge", "ne", "gt"):
                return True
    return any(constant(use.option("reduction")) == "none" for use in loss_uses(program))


def _compares(value: Value) -> bool:
    """`y >= 0`, `y != -1`"""
    return (
        isinstance(value, Operation)
        and value.operator in (">=", "!=", ">", "==", "<")
        and any(isinstance(bound, Const) and bound.value in (-1, 0, -100) for bound in value.operands)
    )


def _stored_where(program: Program, test: Value) -> bool:
    return any(key is test for stored in flows(program).stored.values() for key, _ in stored)
