"""Data sorted by class that is cut or split as it lies."""

from __future__ import annotations

import ast

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.history import Loop
from netmend.program.engine.program import Program
from netmend.program.engine.values import Item, Operation, Value, constant, resolved
from netmend.program.meaning.arrays import complements
from netmend.program.meaning.loops import changes_in
from netmend.program.meaning.losses import losses
from netmend.program.meaning.orders import is_class_by_class, through_map
from netmend.program.meaning.training import rounds

BATCHES_HEAD = """\
import numpy as np
import torch
from torch import nn

xs, ys = [], []
for kind in range(10):
    xs.append(np.random.randn(100, 4) + kind)
    ys.append(np.full(100, kind))
X, Y = torch.tensor(np.concatenate(xs)), torch.tensor(np.concatenate(ys))
net = nn.Linear(4, 10)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """\
for epoch in range(9):
    for i in range(0, len(X), 20):
        loss = nn.functional.cross_entropy(net(X[i : i + 20]), Y[i : i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


class BatchesInClassOrder(StaticRule, code="S532", cause="API-SHUFFLE-POS"):
    """Batches are cut in order from data that was built class by class.

    Each batch then holds one class. The network learns to answer with the class of the latest batches and forgets the others; the
    loss looks small while the accuracy stays at the level of guessing.

    Draw a new order in each epoch: `for idx in torch.randperm(len(X)).split(20): x, y = X[idx], Y[idx]`.
    """

    message = "The data is sorted by class and its batches are cut in order, so each holds one class; draw them with torch.randperm(len(x)).split(n)."
    triggers = ("full(", "repeat_interleave(", ".repeat(", "] * ", "load_iris", "load_wine")
    needs = "backward"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet("a new order in each epoch", BATCHES_HEAD + LOOP.replace("for i in range(0, len(X), 20):", "for i in torch.randperm(1000).split(20):")
                .replace("[i : i + 20]", "[i]")),
        Snippet("mixed before", BATCHES_HEAD + "order = torch.randperm(len(X))\nX, Y = X[order], Y[order]\n" + LOOP),
        Snippet("all at once", BATCHES_HEAD + LOOP.replace("    for i in range(0, len(X), 20):\n", "    for i in (0,):\n").replace("[i : i + 20]", "[:]")),
    )  # fmt: skip
    BAD = (
        Snippet(
            "a set that comes in order",
            "import torch\nimport torch.nn.functional as F\nfrom sklearn.datasets import load_iris\nfrom torch import nn\n\ndata = load_iris()\nx = torch.tensor(data.data, dtype=torch.float32)\n"
            "y = torch.tensor(data.target)\nnet = nn.Linear(4, 3)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor epoch in range(50):\n    for i in range(0, len(x), 16):\n"
            "        loss = F.cross_entropy(net(x[i : i + 16]), y[i : i + 16])\n        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n",
            line=12,
        ),
        Snippet("lists", BATCHES_HEAD + LOOP, line=13),
        Snippet("a trainer, through functions", BATCHES_HEAD[: BATCHES_HEAD.index("xs, ys")] + "def data(per):\n    rows, labels = [], []\n    for k, centre in enumerate(CENTRES):\n"
                "        rows.append(centre + np.random.randn(per, 4))\n        labels += [k] * per\n    return torch.tensor(np.concatenate(rows)), torch.tensor(labels)\n\n"
                "class Trainer:\n    def __init__(self, net):\n        self.net, self.opt = net, torch.optim.Adam(net.parameters())\n\n"
                "    def fit(self, x, y, size=25):\n        n = len(x)\n        for lo in range(0, n, size):\n            hi = lo + size\n"
                "            loss = nn.functional.cross_entropy(self.net(x[lo:hi]), y[lo:hi])\n            self.opt.zero_grad()\n            loss.backward()\n"
                "            self.opt.step()\n\nTrainer(nn.Linear(4, 3)).fit(*data(200))\n", line=18),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        turns = {id(turn.loop): turn.loop for turn in rounds(program)}
        for use in losses(program):
            loop = next((part for part in use.event.loops() if id(part) in turns), None)
            if loop is None or use.target is None:
                continue
            item = through_map(use.target)
            if isinstance(item, Item) and _is_batch(item.key, loop) and is_class_by_class(program, item.base):
                yield self.finding(program, _head(loop))


def _is_batch(key: Value, loop: Loop) -> bool:
    """A slice that moves with the loop."""
    key = resolved(key)
    return (
        isinstance(key, Operation)
        and key.operator == "slice"
        and constant(key.operands[2]) is None
        and isinstance(loop.node, ast.For)
        and changes_in(key.operands[0], loop)
    )


def _head(loop: Loop) -> ast.AST:
    return loop.node.iter if isinstance(loop.node, ast.For) else loop.node


SPLIT_HEAD = """\
import numpy as np
import torch

rows, labels = [], []
for kind in range(5):
    rows.append(np.random.randn(100, 4) + kind)
    labels += [kind] * 100
x, y = torch.tensor(np.concatenate(rows)), torch.tensor(labels)
"""
SPLIT = "cut = int(0.8 * len(x))\nx_train, y_train = x[:cut], y[:cut]\nx_val, y_val = x[cut:], y[cut:]\n"


class SplitInClassOrder(StaticRule, code="S614", cause="VAL-SPLIT"):
    """Data that was built class by class is split by position.

    The last classes are only in the held-out part, the others only in training. The network is tested on what it has never seen;
    the result is near zero, whatever it has learnt.

    Mix before the split: `order = torch.randperm(len(x)); x, y = x[order], y[order]`, or split each class by itself.
    """

    message = "The data is sorted by class, so this split puts whole classes on one side; shuffle it first with one permutation."
    triggers = ("full(", "repeat_interleave(", ".repeat(", "] * ")
    needs = "range"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet(
            "mixed first", SPLIT_HEAD + "order = torch.randperm(len(x))\nx, y = x[order], y[order]\n" + SPLIT
        ),
    )
    BAD = (
        Snippet("a list", SPLIT_HEAD + SPLIT, line=10),
        Snippet("blocks", "import numpy as np\nys = np.concatenate([np.full(50, c) for c in range(4)])\ntrain_y = ys[:150]\ntest_y = ys[150:]\n", line=3),
        Snippet("repeated", "import torch\n\ndef data(x):\n    t = torch.arange(10).repeat_interleave(60)\n    n = 500\n    x_a, t_a = x[:n], t[:n]\n"
                "    x_b, t_b = x[n:], t[n:]\n    return x_a, t_a, x_b, t_b\n\ndata(torch.rand(600, 3))\n", line=6),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for first, _ in complements(program):
            if is_class_by_class(program, first.base):
                yield self.finding(program, program.statement(first.event.node))
