"""A row against a column: all pairs instead of one each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netmend.check.examples import TORCH
from netmend.check.rule import Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Operation, Value
from netmend.program.meaning.gradient_flow import is_computed, lost
from netmend.program.meaning.losses import ELEMENTWISE, loss_uses
from netmend.program.meaning.models import is_module
from netmend.program.meaning.operations import walk
from netmend.program.meaning.roles import MODEL, role
from netmend.program.meaning.shapes import column_and_row, is_spread, shapes
from netmend.program.meaning.training import backward_calls
from netmend.program.meaning.uses import arithmetic

HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(200, 4)
y = x[:, 0] + 0.1 * torch.randn(200)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
loader = DataLoader(TensorDataset(x, y), batch_size=20)
"""
OWN = f"""{TORCH}
class Rents(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 7)
        self.y = self.x.sum(dim=1)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(7, 1)

    def forward(self, x):
        return self.head(x)

net = Net()
for x, y in torch.utils.data.DataLoader(Rents(100), batch_size=10):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
"""


class ColumnAgainstRow(StaticRule, code="S216", cause="TSR-SQUEEZE"):
    """A prediction of shape (N, 1) meets a target of shape (N,), or the other way round.

    The two are broadcast to (N, N): every prediction is compared with every target. The loss runs and falls, and the network learns the
    average of all targets.

    Give both the same shape: `prediction.squeeze(1)` or `target.unsqueeze(1)`.
    """

    message = "Prediction {} and target {} are broadcast to every pair of samples; use squeeze(1) or unsqueeze(1) on one of them."
    triggers = ("MSELoss", "L1Loss", "HuberLoss", "mse_loss", "l1_loss", "huber_loss", ".backward(")

    GOOD = (
        Snippet("column squeezed", HEAD + "for a, b in loader:\n    loss = nn.functional.mse_loss(net(a).squeeze(1), b)\n"),
        Snippet("target as a column", HEAD + "for a, b in loader:\n    loss = nn.MSELoss()(net(a), b[:, None])\n"),
        Snippet("all pairs wanted", HEAD + "score = net(x).squeeze(1)\nloss = (score.unsqueeze(1) - score).clamp(min=0).mean()\nloss.backward()\n"),
        Snippet("prediction against one number", HEAD + "loss = ((net(x) - y.mean()) ** 2).mean()\nloss.backward()\n"),
        Snippet("made a column in place", HEAD + "import numpy as np\ntimes = np.linspace(0, 1, 200)\ntimes.resize((200, 1))\n"
                "loss = nn.functional.mse_loss(net(x), torch.Tensor(times))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("batches of tensors", HEAD + "criterion = nn.MSELoss()\nfor a, b in loader:\n    loss = criterion(net(a), b)\n    loss.backward()\n", line=11),
        Snippet("own dataset", OWN, line=22),
        Snippet("column of a table", HEAD + "import pandas as pd\nfrom sklearn.model_selection import train_test_split\nframe = pd.read_csv('houses.csv')\n"
                "x, xt, y, yt = train_test_split(frame[['a', 'b', 'c', 'd']].values, frame['price'].values)\nx, y = torch.tensor(x).float(), torch.tensor(y).float()\n"
                "loss = nn.functional.mse_loss(net(x), y)\n", line=14),
        Snippet("written by hand", HEAD + "def error(out, target):\n    return ((out - target) ** 2).mean()\n\nfor rows in torch.randperm(200).split(20):\n"
                "    loss = error(net(x[rows]), y[rows])\n    loss.backward()\n", line=10),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for use in loss_uses(program):
            if use.kind in ELEMENTWISE and use.prediction is not None:
                pair = column_and_row(
                    shapes(program).sizes(use.prediction), shapes(program).sizes(use.target)
                )
                if pair is not None and is_computed(use.prediction):
                    yield self.finding(program, use.node, self.message.format(*pair))
        for event in backward_calls(program):
            for loss in lost(event)[:1]:
                yield from self._by_hand(program, loss)

    def _by_hand(self, program: Program, loss: Value) -> Findings:
        for part in walk(loss):
            if not isinstance(part, Operation) or part.operator != "-" or len(part.operands) != 2:
                continue
            one, other = part.operands
            if is_spread(one) or is_spread(other) or is_computed(one) == is_computed(other):
                continue
            if not is_computed(one):
                one, other = other, one
            given = shapes(program).sizes(one), shapes(program).sizes(other)
            pair = column_and_row(*given)
            if (
                pair is not None
                and given[0] is not None
                and given[1] is not None
                and given[0][0] == given[1][0] is not None
            ):
                yield self.finding(program, part.node, self.message.format(*pair))


LABELS = f"""{TORCH}\
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(200, 4)
y = (x[:, 0] > 0).float()
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
loader = DataLoader(TensorDataset(x, y), batch_size=20)
"""
CLASSES = LABELS.replace("nn.Linear(8, 1)", "nn.Linear(8, 3)").replace(".float()", ".long()")
SCALED = """\
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

d, net = load_breast_cancer(), torch.nn.Linear(30, 1)
scaler = StandardScaler().fit(d.data[:455])
x, y = torch.tensor(scaler.transform(d.data)), torch.tensor(d.target)
held, labels = x[455:], y[455:]
hits = (({0}).float() == labels).float().mean()
"""
EVALUATION = """\
hits = 0
with torch.no_grad():
    for a, b in loader:
        decided = {0}
        hits += {1}
print(hits / 200)
"""


class HitsOfAllPairs(StaticRule, code="S618", cause="VAL-METRIC"):
    """Decisions of shape (N, 1) are compared with labels of shape (N,), or the other way round.

    The comparison is broadcast to (N, N): every decision is compared with the labels of all samples. Its sum is up to N times
    too large, its mean says how often two samples agree by chance, whatever the model has learned.

    Give both the same shape: `decided.squeeze(1) == labels`.
    """

    message = (
        "Decisions {} and labels {} are compared for every pair of samples; use squeeze(1) on the column."
    )
    triggers = ("==", "eq(")
    patterns = (r"==\s*[A-Za-z_(][^\n]*(?<!:)\n", r"eq\((?<=\beq[(])")

    GOOD = (
        Snippet("column squeezed", LABELS + EVALUATION.format("(net(a) > 0).squeeze(1).float()", "(decided == b).sum().item()")),
        Snippet("labels as a column", LABELS + EVALUATION.format("(net(a) > 0).float()", "(decided == b.unsqueeze(1)).sum().item()")),
        Snippet("all pairs wanted", LABELS + EVALUATION.format("(net(a) > 0).squeeze(1).float()", "(decided[:, None] == b).sum().item()")),
        Snippet("labels among themselves", LABELS + "for a, b in loader:\n    column = b.view(-1, 1)\n    same = column == b\n    print(net(a) * same)\n"),
        Snippet("all ranks of each row", CLASSES + EVALUATION.format("net(a).sort(1, descending=True)[1]", "(decided == b.view(-1, 1)).sum().item()")),
        Snippet("turned around", CLASSES + EVALUATION.format("net(a).topk(1)[1].t()", "decided.eq(b.view(1, -1)).sum().item()")),
    )  # fmt: skip
    BAD = (
        Snippet("hits of each batch", LABELS + EVALUATION.format("(net(a) > 0).float()", "(decided == b).sum().item()"), line=13),
        Snippet("a method", LABELS + EVALUATION.format("torch.sigmoid(net(a)).round()", "decided.eq(b).float().mean().item()"), line=13),
        Snippet("a function", LABELS + EVALUATION.format("torch.round(torch.sigmoid(net(a)))", "torch.eq(b, decided).sum().item()"), line=13),
        Snippet("labels of classes", CLASSES + EVALUATION.format("net(a).argmax(1, keepdim=True)", "(decided == b).sum().item()"), line=13),
        Snippet("rows of one table, scaled", SCALED.format("net(held) > 0"), line=9),
        Snippet("the whole set", LABELS + "print(((net(x) > 0) == y).float().mean())\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for node, one, other in _comparisons(program):
            if _from_model(one) == _from_model(other):
                continue
            decided, labels = (one, other) if _from_model(one) else (other, one)
            given = shapes(program).sizes(decided), shapes(program).sizes(labels)
            pair = None if is_spread(one) or is_spread(other) else column_and_row(*given)
            # Of one size by construction: else it is not known that samples meet samples.
            if pair is not None and given[0] and given[1] and given[0][0] == given[1][0] is not None:
                yield self.finding(program, node, self.message.format(*pair))


def _comparisons(program: Program) -> Iterator[tuple[ast.AST, Value, Value]]:
    for comparison, _ in arithmetic(program):
        if comparison.operator == "==" and len(comparison.operands) == 2 and comparison.node is not None:
            yield comparison.node, *comparison.operands
    for event in (*program.methods_of("eq"), *program.calls_of("torch.eq")):
        call = event.call
        if call.node is None:
            continue
        sides = [*([call.receiver] if call.receiver is not None else []), *call.args]
        if len(sides) == 2:
            yield call.node, sides[0], sides[1]


def _from_model(value: Value) -> bool:
    """Whether a model's output is part of it."""
    calls = (part for part in walk(value) if isinstance(part, Call))
    return any(role(call.function) == MODEL or is_module(call.function) for call in calls)
