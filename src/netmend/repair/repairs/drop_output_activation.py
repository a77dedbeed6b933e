"""R201."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.loss.scores_again import scores_again
from netmend.changes.network.activations import Applied, applied_at, without
from netmend.changes.network.heads_in_source import head_of, model_calls
from netmend.changes.network.output_uses import once, scores_for_probabilities
from netmend.diagnose.measures.heads import Head
from netmend.program.source.moving import taken_out
from netmend.program.source.writing import delete_argument, unwrap_call, unwrap_method
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example, change, register
from netmend.vocabulary import FunctionFact
from netmend.vocabulary.change import FREE, Change, FileEdits

# Losses that are made for probabilities: without the function they would be given scores.
_PROBABILITIES = ("binary_cross_entropy", "nll_loss", "kl_div")
_DROPPED = ("softmax", "log_softmax", "sigmoid", "hardsigmoid", "tanh", "hardtanh", "relu", "softplus", "exp")  # fmt: skip

_BY_HAND = """
import torch
from torch import nn
net = nn.Linear(2, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    powers = torch.exp(net(torch.randn(8, 2)))
    shares = powers / powers.sum(dim=1, keepdim=True)
    loss = criterion(shares, torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
    sure = shares.max(1).values
"""


@register
@dataclass(frozen=True)
class DropOutputActivation:
    """Remove the activation after the last layer.

    Losses on scores apply softmax or sigmoid themselves, and real targets need an output that can take any value. Thresholds on
    the output (`> 0.5`) are changed along with it, so that the program goes on to measure the same.
    """

    code: ClassVar[str] = "R201"
    cures: ClassVar[tuple[str, ...]] = ("LYR-SOFTMAX-EXTRA", "ACT-EXTRA", "ACT-OUT-WRONG")
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = False

    def propose(self, case: Case) -> Iterator[Change]:
        head = head_of(case)
        if case.cause == "ACT-EXTRA" and head is not None and head.loss.criterion == "nll_loss":
            edits = _on_the_scores(case)
            yield from change(self, case, "no relu before log_softmax", edits, knob="output activation")
        if head is None or head.loss.criterion in _PROBABILITIES:
            return
        if head.loss.criterion not in ("cross_entropy", "binary_cross_entropy_with_logits") and (
            head.last == "softmax" and head.class_axis in head.given.normalised_axes
        ):
            return  # shares against shares: the loss or the function is wrong, but not simply too much
        applied = applied_at(case, head, head.last) if head.last in _DROPPED else None
        edits = () if applied is None else without(case, applied)
        if applied is not None and edits:
            edits = once((*edits, *self._readers(case, head, applied)))
            yield from change(
                self, case, f"no {head.last} before {head.loss.criterion}", edits, knob="output activation"
            )
        elif case.cause == "LYR-SOFTMAX-EXTRA":
            title = "take the logarithm of the probabilities before cross_entropy"
            yield from change(self, case, title, scores_again(case, head), knob="output activation")

    @staticmethod
    def _readers(case: Case, head: Head, applied: Applied) -> FileEdits:
        """Thresholds on what were probabilities."""
        if head.last not in ("sigmoid", "softmax"):
            return ()
        between = any(
            fact.kind == "loss path" and fact.site is not None and fact.site.line == applied.call.lineno
            for fact in case.trace.all(FunctionFact)
            if fact.function == head.last
        )
        values = [(applied.file, applied.call)] if between else model_calls(case)
        return scores_for_probabilities(case.code, values, head.last)

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            "a relu on the scores, before log_softmax",
            before="""
import torch
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
    def forward(self, x):
        x = F.relu(self.fc(x))
        return F.log_softmax(x, dim=1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = F.nll_loss(net(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
""",
            old="F.relu(self.fc(x))",
            new="self.fc(x)",
            mark="F.relu",
            cause="ACT-EXTRA",
        ),
        Example(
            "the last layer of a sequence; the threshold follows",
            before="""
import torch
from torch import nn
model = nn.Sequential(
    nn.Linear(2, 1),
    nn.Sigmoid(),
)
def right(x, y):
    return ((model(x) > 0.5).float() == y).float().mean()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 2)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
""",
            old="""    nn.Sigmoid(),
)
def right(x, y):
    return ((model(x) > 0.5)""",
            new=""")
def right(x, y):
    return ((model(x) > 0)""",
            mark="nn.Sigmoid",
        ),
        Example(
            "a function in forward",
            before="""
import torch
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
    def forward(self, x):
        x = self.fc(x)
        return F.softmax(x, dim=1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
""",
            old="F.softmax(x, dim=1)",
            new="x",
            mark="F.softmax",
        ),
        Example(
            "one module for hidden and output layers: only its last call goes",
            before="""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 3)
        self.act = nn.ReLU()
    def forward(self, x):
        x = self.act(self.first(x))
        return self.act(self.last(x))
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(net(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
""",
            old="return self.act(self.last(x))",
            new="return self.last(x)",
            mark="return self.act",
            cause="ACT-EXTRA",
        ),
        Example(
            "layers of a loop: the last one is taken off",
            before="""
import torch
from torch import nn
layers = []
for width in ((2, 4), (4, 1)):
    layers += [nn.Linear(*width), nn.ReLU()]
model = nn.Sequential(*layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(8, 2)), torch.randn(8, 1))
    loss.backward()
    optimizer.step()
""",
            old="*layers)",
            new="*layers[:-1])",
            mark="nn.ReLU",
            cause="ACT-OUT-WRONG",
        ),
        Example(
            "a word chooses it",
            before="""
import torch
from torch import nn
KNOWN = {"relu": torch.relu, "linear": lambda v: v}
class Dense(nn.Module):
    def __init__(self, inputs, outputs, activation):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation = KNOWN[activation]
    def forward(self, x):
        return self.activation(self.linear(x))
model = nn.Sequential(Dense(2, 4, "relu"), Dense(4, 1, "relu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(8, 2)), torch.randn(8, 1))
    loss.backward()
    optimizer.step()
""",
            old='Dense(4, 1, "relu")',
            new='Dense(4, 1, "linear")',
            mark="return self.activation",
            cause="ACT-OUT-WRONG",
        ),
        Example(
            "between model and loss",
            before="""
import torch
from torch import nn
model = nn.Linear(2, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    out = model(torch.randn(8, 2)).softmax(dim=1)
    loss = criterion(out, torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
""",
            old="model(torch.randn(8, 2)).softmax(dim=1)",
            new="model(torch.randn(8, 2))",
            mark="out = model",
        ),
        Example(
            "a logarithm of the probabilities beside the loss",
            before="""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
with torch.no_grad():
    p = model(torch.randn(8, 2))
    print("val nll", -torch.log(p)[:, 0].mean().item())
""",
            old="""nn.Linear(2, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
with torch.no_grad():
    p = model(torch.randn(8, 2))
    print("val nll", -torch.log(p)""",
            new="""nn.Linear(2, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
with torch.no_grad():
    p = model(torch.randn(8, 2))
    print("val nll", -torch.log(torch.softmax(p, dim=1))""",
            mark="nn.Softmax",
        ),
        Example(
            "a softmax by hand: its logarithm for the loss alone",
            before=_BY_HAND,
            old="criterion(shares,",
            new="criterion(shares.clamp_min(1e-8).log(),",
            mark="loss = criterion",
        ),
        Example(
            "divided by hand, and no shares",
            before=_BY_HAND.replace("powers.sum(", "powers.norm("),
            mark="loss = criterion",
        ),
        Example(
            "one function for each layer: the list keeps its length",
            before="""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, functions):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 4), nn.Linear(4, 3)])
        self.functions = functions
    def forward(self, x):
        for layer, function in zip(self.layers, self.functions):
            x = function(layer(x))
        return x
net = Net([nn.ReLU(), nn.Softmax(dim=1)])
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(net(torch.randn(8, 2)), torch.zeros(8, dtype=torch.long))
    loss.backward()
    optimizer.step()
""",
            old="nn.Softmax(dim=1)",
            new="nn.Identity()",
            mark="nn.Softmax",
        ),
        Example(
            "a loss on probabilities keeps its sigmoid",
            before="""
import torch
from torch import nn
model = nn.Sequential(nn.Linear(2, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy(model(torch.randn(8, 2)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
""",
            mark="nn.Sigmoid",
        ),
    )


def _on_the_scores(case: Case) -> FileEdits:
    """The relu at the fault's line taken away, whose result goes on to `log_softmax`."""
    found = case.code.statement_at(None if case.fault is None else case.fault.site)
    if found is None:
        return ()
    file, statement = found
    calls = list(file.calls("relu", "relu_", "ReLU", inside=statement))
    if len(calls) != 1:
        return ()
    call, holder = calls[0], file.parent(calls[0])
    if last_name(call.func) == "ReLU":
        is_layer = isinstance(holder, ast.Call) and last_name(holder.func) == "Sequential"
        return delete_argument(file, holder, call) if is_layer and isinstance(holder, ast.Call) else ()
    value = call.args[0] if call.args else None
    if value is None:
        return unwrap_method(file, call)
    is_whole = isinstance(statement, ast.Assign) and statement.value is call
    if (
        is_whole
        and isinstance(statement, ast.Assign)
        and file.source(statement.targets[0]) == file.source(value)
    ):
        return taken_out(file, statement)
    return unwrap_call(file, call, value)
