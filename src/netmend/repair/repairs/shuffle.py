"""R501."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from netmend.changes.data.batch_order import in_random_order
from netmend.diagnose.measures.data import training_loader
from netmend.program.source.naming import rename_callee
from netmend.program.source.values import Faces, set_argument
from netmend.program.text.queries import last_name
from netmend.repair.repair import Case, Example, change, register
from netmend.vocabulary import LoaderFact
from netmend.vocabulary.change import FREE, Change


@register
@dataclass(frozen=True)
class Shuffle:
    """Draw the training samples in a new random order in every epoch.

    Helps where the data is sorted, by class or by time of recording. It costs nothing, but a program whose order carries meaning
    (a stream, a curriculum) is changed by it.
    """

    code: ClassVar[str] = "R501"
    cures: ClassVar[tuple[str, ...]] = ("API-SHUFFLE-POS",)
    effort: ClassVar[int] = FREE
    explores: ClassVar[bool] = True

    def propose(self, case: Case) -> Iterator[Change]:
        loader = self._loader(case)
        if loader is not None:
            title = f"shuffle {loader.name or 'the training data'}"
            yield from change(self, case, title, _shuffled(case, loader), knob="training order")
        elif case.fault is not None and training_loader(case.trace) is None:
            edits = in_random_order(case)
            yield from change(self, case, "draw the batches in random order", edits, knob="training order")

    def _loader(self, case: Case) -> LoaderFact | None:
        """A loader that feeds training in the order of its data."""
        loader = training_loader(case.trace)
        if loader is None or loader.shuffle is not False or loader.sampler not in ("SequentialSampler", ""):
            return None
        return loader

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()


def _shuffled(case: Case, loader: LoaderFact) -> Faces:
    found = case.code.call_at(loader.created)
    if found is None:
        return Faces()
    file, call = found
    sources = case.sources
    if last_name(call.func) != "DataLoader" or sources.argument(call, "batch_sampler", 4) is not None:
        return Faces()
    sampler = sources.argument(call, "sampler", 3)
    if isinstance(sampler, ast.Call) and last_name(sampler.func) == "SequentialSampler":
        return Faces(rename_callee(file, sampler, "torch.utils.data.RandomSampler"))
    if sampler is not None and not (isinstance(sampler, ast.Constant) and sampler.value is None):
        return Faces()
    return set_argument(case.code, loader.created, "shuffle", "True", position=2, arguments=case.arguments)


_HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.randn(12, 4), torch.arange(12) // 6
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
_LOOP = """
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
"""
_BY_HAND = """
for epoch in range(2):
    for start in range(0, len(x), 4):
        stop = start + 4
        out = net(x[start:stop])
        loss = nn.functional.cross_entropy(out, y[start:stop])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_SPLIT = """
for epoch in range(2):
    for a, b in zip(x.split(4), y.split(4)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
"""
_GENERATOR = """
def batches(inputs, labels, size):
    for i in range(0, len(inputs), size):
        yield inputs[i : i + size], labels[i : i + size]

for epoch in range(2):
    for a, b in batches(x, y, 4):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
"""
Shuffle.EXAMPLES = (
    Example(
        "a loader",
        before=_HEAD + "loader = DataLoader(TensorDataset(x, y), batch_size=4)" + _LOOP,
        old="batch_size=4)",
        new="batch_size=4, shuffle=True)",
        mark="DataLoader(",
    ),
    Example(
        "a constant elsewhere",
        before=_HEAD
        + "MIX = False\nloader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=MIX)"
        + _LOOP,
        old="MIX = False",
        new="MIX = True",
        mark="DataLoader(",
    ),
    Example(
        "slices in order",
        before=_HEAD + _BY_HAND,
        old="""    for start in range(0, len(x), 4):
        stop = start + 4
        out = net(x[start:stop])
        loss = nn.functional.cross_entropy(out, y[start:stop])""",
        new="""    order = torch.randperm(len(x))
    for start in range(0, len(x), 4):
        stop = start + 4
        out = net(x[order[start:stop]])
        loss = nn.functional.cross_entropy(out, y[order[start:stop]])""",
        mark="for start",
    ),
    Example(
        "pieces side by side",
        before=_HEAD + _SPLIT,
        old="    for a, b in zip(x.split(4), y.split(4)):",
        new="    order = torch.randperm(len(x))\n    for a, b in zip(x[order].split(4), y[order].split(4)):",
        mark="for a, b",
    ),
    Example(
        "a generator of batches",
        before=_HEAD + _GENERATOR,
        old="""    for i in range(0, len(inputs), size):
        yield inputs[i : i + size], labels[i : i + size]""",
        new="""    order = torch.randperm(len(inputs))
    for i in range(0, len(inputs), size):
        yield inputs[order[i : i + size]], labels[order[i : i + size]]""",
        mark="for a, b",
    ),
    Example(
        "shuffled already",
        before=_HEAD + "loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)" + _LOOP,
        mark="DataLoader(",
    ),
)
