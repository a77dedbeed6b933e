"""Averages and counts over the batches of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.check.rule import NOWHERE, Findings, Snippet, StaticRule
from netmend.program.engine.program import Program
from netmend.program.engine.values import (
    Attribute,
    Call,
    Element,
    Instance,
    Item,
    Operation,
    Value,
    constant,
    resolved,
)
from netmend.program.meaning.averages import BATCHES, SAMPLES, averages, counts_hits, is_single, plain_loss
from netmend.program.meaning.loaders import dataset_of, evaluated, loader_made, trained
from netmend.program.meaning.operations import walk

DROPS_HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\n"
LOOP = "with torch.no_grad():\n    for x, y in test_loader:\n        print(net(x).argmax(1) == y)\n"


class EvaluationDropsSamples(StaticRule, code="S513", cause="VAL-METRIC", advisory=True):
    """The loader for evaluation leaves out the last, incomplete batch.

    Up to a batch of samples is never evaluated; with a small test set or shuffling the result depends on which.

    Leave `drop_last` out for evaluation; it serves training, where batch norm dislikes tiny batches.
    """

    message = "drop_last skips samples of the evaluation; remove it here."
    triggers = ("drop_last",)

    GOOD = (
        Snippet("all samples", DROPS_HEAD + "test_loader = DataLoader(data, batch_size=64)\n" + LOOP),
        Snippet("switched off", DROPS_HEAD + "test_loader = DataLoader(data, batch_size=64, drop_last=False)\n" + LOOP),
        Snippet("a training loader", DROPS_HEAD + "net = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
                "loader = DataLoader(data, batch_size=64, drop_last=True)\nfor x in loader:\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n"),
    )  # fmt: skip
    BAD = (
        Snippet("dropped", DROPS_HEAD + "test_loader = DataLoader(data, batch_size=64, drop_last=True)\n" + LOOP, line=4),
        Snippet("in a function", DROPS_HEAD + "@torch.no_grad()\ndef test(net, loader):\n    for x, y in loader:\n        print(net(x) == y)\n\n"
                "test(net, DataLoader(data, batch_size=9, drop_last=True))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        fed = {id(loader_made(feeding.loader)) for feeding in trained(program)}
        for evaluation in evaluated(program):
            loader = loader_made(evaluation.loader)
            if loader is None or id(loader) in fed:
                continue
            if constant(loader.argument("drop_last", 8)) is True:
                yield self.finding(program, loader.node)


UNWEIGHTED_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n\n"
UNWEIGHTED_TEST = """\
def test(net, loader):
    total = 0
    with torch.no_grad():
        for x, y in loader:
            total += {0}
    print("loss", total / len(loader{1}))
"""


class BatchMeansUnweighted(StaticRule, code="S606", cause="VAL-METRIC", advisory=True):
    """The mean over a dataset is computed as the mean of the batches' means.

    The last batch is mostly smaller, and its samples count for more than the others. With few batches the result is visibly off,
    and it depends on the batch size.

    Weight by the batch: add `loss.item() * len(x)` and divide by `len(loader.dataset)`.
    """

    message = "The last batch may be smaller but counts like the others; weight by the number of samples."
    triggers = ("/ len(", "/len(")

    GOOD = (
        Snippet(
            "weighted",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item() * len(x)", ".dataset"),
        ),
        Snippet(
            "full batches only",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item()", "")
            + "\ntest(net, DataLoader(data, batch_size=9, drop_last=True))\n",
        ),
        Snippet(
            "one by one",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item()", "")
            + "\ntest(net, DataLoader(data))\n",
        ),
    )
    BAD = (
        Snippet("in a function", UNWEIGHTED_HEAD + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item()", ""), line=10),
        Snippet("in a script", UNWEIGHTED_HEAD + "loader = DataLoader(data, batch_size=64)\ntotal = 0.0\nfor x, y in loader:\n"
                "    total += F.mse_loss(net(x), y).item()\nprint(total / len(loader))\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for average in averages(program):
            if average.per != BATCHES or is_single(average.loader) or not plain_loss(program, average.part):
                continue
            made = loader_made(average.loader)
            if made is None or constant(made.argument("drop_last", 8), False) is False:
                yield self.finding(program, average.node)


class BatchMeansOverSamples(StaticRule, code="S607", cause="VAL-METRIC"):
    """Mean losses of the batches are added up and divided by the number of samples.

    Each batch's loss is already an average, so the result is too small by the factor of the batch size, and changes when the
    batch size does. Loss curves of two settings then cannot be compared.

    Add `loss.item() * len(x)`, or divide by the number of batches, `len(loader)`.
    """

    message = "Mean losses are divided by the number of samples, which makes them too small by the batch size; add loss.item() * len(x), or divide by len(loader)."
    triggers = (".dataset)",)

    GOOD = (
        Snippet(
            "weighted by the batch",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item() * len(x)", ".dataset"),
        ),
        Snippet(
            "summed loss",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.nll_loss(net(x), y, reduction='sum').item()", ".dataset"),
        ),
        Snippet(
            "one sample per batch",
            UNWEIGHTED_HEAD
            + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item()", ".dataset")
            + "\ntest(net, DataLoader(data))\n",
        ),
    )
    BAD = (
        Snippet("in a function", UNWEIGHTED_HEAD + UNWEIGHTED_TEST.format("F.cross_entropy(net(x), y).item()", ".dataset"), line=10),
        Snippet("in a script", UNWEIGHTED_HEAD + "loader = DataLoader(data, batch_size=64)\ncriterion = torch.nn.MSELoss()\ntotal = 0.0\nfor x, y in loader:\n"
                "    loss = criterion(net(x), y)\n    total += loss.item()\nmean = total / len(loader.dataset)\nprint(mean)\n", line=11),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for average in averages(program):
            if average.per == SAMPLES and not is_single(average.loader) and plain_loss(program, average.part):
                yield self.finding(program, average.node)


HITS_TEST = """\
def test(net, loader):
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += {0}
    return 100.0 * correct / len(loader{1})
"""


class HitsOverBatches(StaticRule, code="S612", cause="VAL-METRIC", preview=True):
    """The number of right answers is divided by the number of batches.

    `len(loader)` counts batches, not samples. The "accuracy" is too large by the batch size, mostly far above 100 %.

    Divide by `len(loader.dataset)`, or count the samples in the loop.
    """

    message = "len(loader) is the number of batches; divide the number of hits by len(loader.dataset)."
    triggers = ("/ len(", "/len(")
    patterns = (r"len\(\s*[\w.]*loader",)

    GOOD = (
        Snippet(
            "by samples", DROPS_HEAD + HITS_TEST.format("(net(x).argmax(1) == y).sum().item()", ".dataset")
        ),
        Snippet(
            "mean of each batch",
            DROPS_HEAD + HITS_TEST.format("(net(x).argmax(1) == y).float().mean().item()", ""),
        ),
        Snippet(
            "share of each batch",
            DROPS_HEAD + HITS_TEST.format("(net(x).argmax(1) == y).sum().item() / len(y)", ""),
        ),
        Snippet(
            "batches of one",
            DROPS_HEAD
            + HITS_TEST.format("(net(x).argmax(1) == y).sum().item()", "")
            + "\ntest(net, DataLoader(data, batch_size=1))\n",
        ),
    )
    BAD = (
        Snippet("in a function", DROPS_HEAD + HITS_TEST.format("(net(x).argmax(1) == y).sum().item()", ""), line=9),
        Snippet("in a script", DROPS_HEAD + "loader = DataLoader(data, batch_size=64)\nhits = 0\nfor i, (x, y) in enumerate(loader):\n"
                "    pred = net(x).max(1)[1]\n    hits += pred.eq(y).sum().item()\nprint(f'accuracy {hits / len(loader):.3f}')\n", line=9),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        for average in averages(program):
            if average.per == BATCHES and not is_single(average.loader) and counts_hits(average.part):
                yield self.finding(program, average.node)


OTHER_HEAD = """\
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


class CountOverOtherSet(StaticRule, code="S615", cause="VAL-METRIC"):
    """Hits are counted over one dataset and divided by the size of another.

    The number is no accuracy of anything: counted on the training set and divided by the size of the test set it can be above 1,
    and it does not say how the network does on new data.

    Run over the loader of the set that you divide by.
    """

    message = (
        "This is counted over one dataset but divided by the size of another; run over that set's loader."
    )
    triggers = ("/ len(", "/len(")
    needs = "DataLoader"
    patterns = (NOWHERE,)

    GOOD = (
        Snippet("the same set", OTHER_HEAD.format("test_loader") + "print(hits / len(test_set))\n"),
        Snippet(
            "a list of results",
            OTHER_HEAD.format("train_loader") + "results = [1, 2]\nprint(hits / len(results))\n",
        ),
    )
    BAD = (
        Snippet("the wrong loader", OTHER_HEAD.format("train_loader") + 'print("test accuracy", hits / len(test_set))\n', line=13),
        Snippet("through the loader's set", OTHER_HEAD.format("train_loader") + "accuracy = 100 * hits / len(test_loader.dataset)\n", line=13),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        sets = {id(data) for event in program.calls for data in (_set_of(event.call),) if data is not None}
        for value in _divisions(program):
            size = resolved(value.operands[1])
            if not isinstance(size, Call) or size.qualified != "len" or len(size.args) != 1:
                continue
            counted = {id(data) for data in _counted(value.operands[0])}
            whole = _dataset(resolved(size.args[0]))
            if whole is None or id(whole) not in sets or not counted or id(whole) in counted:
                continue
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
