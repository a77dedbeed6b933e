"""Weights of classes that stand in another order than the classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Item, Value, constant
from netmend.program.meaning.frequencies import counted, counted_by_place
from netmend.program.meaning.losses import loss_kind, loss_uses
from netmend.program.meaning.operations import reached, walk
from netmend.program.meaning.parts import flows
from netmend.program.meaning.training import backward_calls, loss_of
from netmend.program.text.edits import replace
from netmend.vocabulary.finding import Fix

HEAD = """\
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from collections import Counter
from torch import nn
from torch.utils.data import WeightedRandomSampler

df = pd.read_csv("posts.csv")
"""
TRAINING = """
x, y = torch.tensor(df[["a", "b"]].values), torch.tensor(df["label"].values)
net = nn.Linear(2, 4)
opt = torch.optim.Adam(net.parameters())
for epoch in range(5):
    loss = loss_fn(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
_WEIGHTED = ("cross_entropy", "nll")
_SAMPLER = "torch.utils.data.WeightedRandomSampler"


class WeightsInOrderOfFrequency(StaticRule, code="S931", cause="LOS-CALC"):
    """Weights of classes are taken from `value_counts()` or `most_common()`, which put the most frequent class first, not class 0.

    The loss gives `weight[k]` to class k. Each class then gets the weight of another one: with weights that fall with the count, the
    class that happens to be number 0 is weighted as if it were the most frequent.

    Put the counts in the order of the classes: `value_counts().sort_index()`, `np.bincount(y)`, `[counts[k] for k in range(n)]`.
    """

    message = "`{0}` puts the most frequent class first, but weight[k] belongs to class k; {1}."
    triggers = ("backward(", "value_counts(", "most_common(")
    patterns = (r"value_counts\(|most_common\(",)

    GOOD = (
        Snippet("sorted by class", HEAD + 'counts = df["label"].value_counts().sort_index()\nloss_fn = nn.CrossEntropyLoss(weight=torch.tensor((1 / counts).values))\n' + TRAINING),
        Snippet("looked up by class", HEAD + 'counts = df["label"].value_counts()\n'
                "loss_fn = nn.CrossEntropyLoss(weight=torch.tensor([len(df) / counts[k] for k in range(4)]))\n" + TRAINING),
        Snippet("classes are numbered by frequency", HEAD + 'counts = df["kind"].value_counts()\n'
                'df["label"] = df["kind"].map({name: place for place, name in enumerate(counts.index)})\n'
                "loss_fn = nn.CrossEntropyLoss(weight=torch.tensor(1 / counts.values))\n" + TRAINING),
        Snippet("a weight for each row, by its class", HEAD + 'counts = df["label"].value_counts()\nrows = (1 / counts)[df["label"]]\n'
                "sampler = WeightedRandomSampler(rows.to_numpy(), len(df))\n"),
        Snippet("as they come", HEAD + 'counts = df["label"].value_counts(sort=False)\nloss_fn = nn.CrossEntropyLoss(weight=torch.tensor(1 / counts.values))\n' + TRAINING),
        Snippet("one number of all", HEAD + 'most = df["label"].value_counts().max()\nloss_fn = nn.CrossEntropyLoss(weight=torch.tensor([1.0, most, 2.0, 3.0]))\n' + TRAINING),
    )  # fmt: skip
    BAD = (
        mended("values", HEAD + 'counts = df["label"].⟨value_counts() → value_counts().sort_index()⟩\n'
               "loss_fn = nn.CrossEntropyLoss(weight=torch.tensor(len(df) / (len(counts) * counts.values)))\n" + TRAINING),
        Snippet("a list", HEAD + 'counts = Counter(df["label"])\nweights = [len(df) / n for _, n in counts.most_common()]\n'
                "loss_fn = nn.CrossEntropyLoss(torch.tensor(weights).float())\n" + TRAINING, line=11),
        Snippet("a list that grows", HEAD + 'counts = df.label.value_counts().to_dict()\nweights = []\nfor k in counts:\n    weights.append(1.0 / counts[k])\n'
                "weights = torch.FloatTensor(weights)\nloss_fn = nn.NLLLoss(weight=weights / weights.sum())\n" + TRAINING, line=10),
        Snippet("in a function", HEAD + 'def weights_of(labels):\n    share = labels.value_counts(normalize=True)\n    return torch.tensor((1.0 - share).to_numpy(), dtype=torch.float32)\n\n'
                'w = weights_of(df["label"])\ndef loss_fn(out, y):\n    return F.cross_entropy(out, y, weight=w)\n' + TRAINING, line=11),
        Snippet("a sampler", HEAD + 'w = 1.0 / torch.tensor(df["label"].value_counts().values)\nrows = w[df["label"].values]\n'
                "sampler = WeightedRandomSampler(rows, len(rows))\n", line=10),
        Snippet("each sample's loss", HEAD + 'w = torch.tensor(np.sqrt(1 / df["label"].value_counts()).values)\ndef loss_fn(out, y):\n'
                '    return (w[y] * F.cross_entropy(out, y, reduction="none")).mean()\n' + TRAINING, line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for weights, classes in _weights(program):
            call = counted(weights)
            if call is None or call.node is None or _numbers_classes(program, call, classes):
                continue
            name = f"{call.method or call.qualified.rpartition('.')[2]}()"
            by_class = (
                "put .sort_index() behind it"
                if name == "value_counts()"
                else "use [counts[k] for k in range(classes)]"
            )
            yield self.finding(
                program, call.node, self.message.format(name, by_class), fix=_sorted(program, call)
            )


def _weights(program: Program) -> Iterator[tuple[Value, Value | None]]:
    """What is read class by class as weights, with the classes."""
    for use in loss_uses(program):
        if use.kind in _WEIGHTED:
            given = use.made.argument("weight", 0) if use.made is not None else use.call.argument("weight", 2)
            if given is not None:
                yield given, use.target
    for event in _made_aside(program):
        given = event.call.argument("weight", 0)
        if given is not None:
            yield given, None
    roots = [loss for event in backward_calls(program) if (loss := loss_of(event)) is not None]
    roots += [event.call.args[0] for event in program.calls_of(_SAMPLER) if event.call.args]
    for root in roots:
        for part in walk(root):
            if (
                isinstance(part, Item)
                and constant(part.key) is None
                and counted_by_place(part.base) is not None
            ):
                yield part.base, part.key


def _made_aside(program: Program) -> list[CallEvent]:
    """Losses that are handed to something which cannot be followed."""
    used = {id(use.made) for use in loss_uses(program)}
    return [
        event for event in program.calls if loss_kind(event.call) in _WEIGHTED and id(event.call) not in used
    ]


def _numbers_classes(program: Program, counts: Call, classes: Value | None) -> bool:
    """Were the classes themselves numbered by their frequency, or were the counts taken of something else's order?"""
    flow = flows(program)
    targets = [classes] if classes is not None else [use.target for use in loss_uses(program)]
    return any(
        isinstance(part, Call) and (part is counts or part.method in ("value_counts", "most_common"))
        for target in targets
        for part in reached(target, flow.sources)
    )


def _sorted(program: Program, call: Call) -> Fix | None:
    if call.method != "value_counts" or not isinstance(call.node, ast.Call):
        return None
    text = program.source(call.node)
    return Fix(
        "Put the counts in the order of the classes", replace(program, call.node, f"{text}.sort_index()")
    )
