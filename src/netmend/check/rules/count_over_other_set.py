from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import Snippet, StaticRule, register
from netmend.program.engine.program import Program
from netmend.program.engine.values import Attribute, Call, Element, Instance, Item, Operation, Value, resolved
from netmend.program.meaning.loaders_of_models import dataset_of, loader_made
from netmend.program.meaning.operations import walk
from netmend.vocabulary.finding import Finding

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split

train_set, test_set = random_split(data, [400, 100])
train_loader = DataLoader(train_set, batch_size=20, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)
net = nn.Linear(8, 2)
hits = 0
with torch.no_grad():
    for x, y in {0}:
        hits += (net(x).argmax(1) == y).sum().item()
"""


@register
class CountOverOtherSet(StaticRule):
    """Hits are counted over one dataset and divided by the size of another.

    The number is no accuracy of anything: counted on the training set and divided by the size of the test set it can be above 1,
    and it does not say how the network does on new data.

    Run over the loader of the set that you divide by.
    """

    code = "S615"
    cause = "VAL-METRIC"
    message = (
        "This is counted over one dataset but divided by the size of another; run over that set's loader."
    )
    triggers = ("/ len(", "/len(")
    needs = "DataLoader"
    patterns = (r"(?!)",)

    GOOD = (
        Snippet("the same set", HEAD.format("test_loader") + "print(hits / len(test_set))\n"),
        Snippet(
            "through the loader", HEAD.format("test_loader") + "print(hits / len(test_loader.dataset))\n"
        ),
        Snippet("batches", HEAD.format("train_loader") + "print(hits / len(train_loader))\n"),
        Snippet(
            "the training set", HEAD.format("train_loader") + "print(hits / len(train_loader.dataset))\n"
        ),
        Snippet(
            "a list of results",
            HEAD.format("train_loader") + "results = [1, 2]\nprint(hits / len(results))\n",
        ),
    )
    BAD = (
        Snippet("the wrong loader", HEAD.format("train_loader") + 'print("test accuracy", hits / len(test_set))\n', line=13),
        Snippet("through the loader's set", HEAD.format("train_loader") + "accuracy = 100 * hits / len(test_loader.dataset)\n", line=13),
        Snippet("the wrong size", HEAD.format("test_loader") + "def rate(count, rows):\n    return count / len(rows)\n\nprint(rate(hits, train_set))\n", line=14),
    )  # fmt: skip

    def check(self, program: Program) -> Iterator[Finding]:
        seen: set[int] = set()
        sets = {id(data) for event in program.calls for data in (_set_of(event.call),) if data is not None}
        for value in _divisions(program):
            size = resolved(value.operands[1])
            if not isinstance(size, Call) or size.qualified != "len" or len(size.args) != 1:
                continue
            counted = {id(data) for data in _counted(value.operands[0])}
            whole = _dataset(resolved(size.args[0]))
            if whole is None or id(whole) not in sets or not counted or id(whole) in counted:
                continue
            if value.node is not None and id(value.node) not in seen:
                seen.add(id(value.node))
                yield self.finding(program, value.node)


def _set_of(call: Call | None) -> Value | None:
    loader = loader_made(call)
    return dataset_of(loader) if loader is not None else None


def _divisions(program: Program) -> Iterator[Operation]:
    """Divisions whose result is stored, given to a call or returned."""
    for event in program.events:
        given = (event.value, *(event.call.args if event.call is not None else ()))
        for value in given:
            for part in walk(value, into=lambda inner: isinstance(inner, Operation)):
                if isinstance(part, Operation) and part.operator == "/" and len(part.operands) == 2:
                    yield part


def _counted(value: Value) -> Iterator[Value]:
    """The datasets whose batches a number is counted over."""
    for part in walk(value):
        if isinstance(part, Element):
            loader = loader_made(part.iterable)
            data = dataset_of(loader) if loader is not None else None
            if data is not None:
                yield data


def _dataset(value: Value) -> Value | None:
    """The dataset itself, also as `loader.dataset`; nothing for a loader."""
    if isinstance(value, Attribute) and value.name == "dataset":
        loader = loader_made(value.base)
        return dataset_of(loader) if loader is not None else None
    return value if isinstance(value, Item | Instance | Call) and loader_made(value) is None else None
