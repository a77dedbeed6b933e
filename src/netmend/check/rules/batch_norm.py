"""Batch normalisation and what stands around it."""

from __future__ import annotations

from netmend.check.examples import TORCH, net
from netmend.check.rule import Findings, Snippet, StaticRule, mended
from netmend.program.engine.history import CallEvent, Event
from netmend.program.engine.program import Program
from netmend.program.engine.values import Call, Element, constant, resolved
from netmend.program.meaning.modules import BATCH_NORMS
from netmend.program.meaning.operations import ACTIVATIONS, LINEAR_MAPS, Op, operation, walk
from netmend.program.meaning.paths import UNCHANGED, paths, previous
from netmend.program.meaning.shapes import shapes
from netmend.program.meaning.sizes import setting
from netmend.program.meaning.statements import with_argument
from netmend.program.meaning.training import backward_calls, grad_is_off
from netmend.vocabulary.finding import Fix

BIAS_HEAD = "import torch\nfrom torch import nn\n\n"


class BiasBeforeBatchNorm(StaticRule, code="S324", cause="LYR-BIAS-EXTRA", advisory=True):
    """A layer right before batch norm has a bias.

    Batch norm subtracts the mean, and with it the bias: it has no effect, costs a little memory and time, and weight decay moves it
    for nothing.

    Make the layer with `bias=False`; batch norm has a bias of its own.
    """

    message = "Batch norm cancels this layer's bias; create the layer with bias=False."
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("without", BIAS_HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())\n"),
        Snippet("activation between", BIAS_HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))\n"),
        Snippet("bias from the outside", BIAS_HEAD + "def block(bias):\n    return nn.Sequential(nn.Conv2d(1, 8, 3, bias=bias), nn.BatchNorm2d(8))\n"),
    )  # fmt: skip
    BAD = (
        mended("in a Sequential", BIAS_HEAD + "net = nn.Sequential(nn.Conv2d(1, 8, 3⟨ → , bias=False⟩), nn.BatchNorm2d(8), nn.ReLU())\n"),
        mended("in forward", BIAS_HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 8⟨ → , bias=False⟩)\n"
                "        self.bn = nn.BatchNorm1d(8)\n\n    def forward(self, x):\n        return self.bn(self.fc(x))\n"),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = paths(program)
        for op in known.ops:
            if op.name not in BATCH_NORMS or op.layer is None or op.input is None:
                continue
            before = operation(resolved(op.input))
            if before is None or before.name not in LINEAR_MAPS or before.layer is None or before.layer.open:
                continue
            position = 2 if before.name == "linear" else 7
            if setting(before.layer.argument("bias", position), True) is not True:
                continue
            if known.only_user(before.value) is op.value:
                edits = with_argument(program, before.layer.node, "bias", "False")
                yield self.finding(
                    program, before.layer.node, fix=Fix("Create the layer without bias", edits)
                )


SAMPLE_HEAD = f"""{TORCH}\
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = (net(x) - y).pow(2).mean()\n    loss.backward()\n    optimizer.step()\n"


class BatchNormOnOneSample(StaticRule, code="S331", cause="HYP-BATCH-SMALL"):
    """`BatchNorm1d` is trained on batches of one sample.

    The variance of one value is not defined: training stops with "Expected more than 1 value per channel when training". A loader
    without `batch_size` gives batches of one.

    Give the loader a larger `batch_size` (and `drop_last=True`), or use `LayerNorm`.
    """

    message = "Batches hold one sample, and BatchNorm1d cannot be trained on one; give the loader a batch_size, or use LayerNorm."
    triggers = ("BatchNorm1d", ".backward(")

    GOOD = (
        Snippet("larger batches", SAMPLE_HEAD + "loader = DataLoader(data, batch_size=32)\n" + LOOP),
        Snippet("evaluation", SAMPLE_HEAD + "loader = DataLoader(data, batch_size=1)\nnet.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        print(net(x))\n"),
        Snippet("layer norm", SAMPLE_HEAD.replace("BatchNorm1d", "LayerNorm") + "loader = DataLoader(data, batch_size=1)\n" + LOOP),
        Snippet("frozen statistics", SAMPLE_HEAD + "loader = DataLoader(data, batch_size=1)\nnet.eval()\n" + LOOP),
        Snippet("the data set makes the batches", SAMPLE_HEAD + "loader = DataLoader(data, batch_size=None)\n" + LOOP),
    )  # fmt: skip
    BAD = (
        Snippet("batches of one", SAMPLE_HEAD + "loader = DataLoader(data, batch_size=1, shuffle=True)\n" + LOOP, line=5),
        Snippet("size forgotten", SAMPLE_HEAD + "loader = DataLoader(data, shuffle=True)\n" + LOOP, line=5),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        known = paths(program)
        trained = [event for event in backward_calls(program) if event.loops()]
        if not trained:
            return
        modes = sorted(program.methods_of("eval", "train"), key=lambda event: event.order)
        told: set[int] = set()
        for op in known.ops:
            event = known.events.get(id(op.value))
            if op.name != "batchnorm1d" or event is None or op.layer is None or id(op.layer) in told:
                continue
            if grad_is_off(event):
                continue
            if not any(event.loops() and event.loops()[0] in other.loops() for other in trained):
                continue
            if _is_vector(program, op) and _comes_one_by_one(op) and not _is_evaluated(modes, event):
                told.add(id(op.layer))
                yield self.finding(program, op.node)


def _is_vector(program: Program, op: Op) -> bool:
    """Two axes for certain, or what a linear layer gives for a plain batch."""
    given = shapes(program).of(op.input)
    if given is not None and given.whole:
        return given.rank == 2
    before = previous(op, UNCHANGED | ACTIVATIONS)
    return before is not None and before.name == "linear"


def _comes_one_by_one(op: Op) -> bool:
    sources = [part for part in walk(op.input) if isinstance(part, Element)]
    for source in sources:
        loader = resolved(source.iterable)
        if not isinstance(loader, Call) or loader.qualified != "torch.utils.data.DataLoader" or loader.open:
            return False
        if {"batch_sampler", "collate_fn", "sampler"} & set(loader.keywords):
            return False
        size = loader.argument("batch_size", 1)
        if size is not None and constant(size) != 1:
            return False
    return bool(sources)


def _is_evaluated(modes: list[CallEvent], event: Event) -> bool:
    before = [mode for mode in modes if mode.order < event.order]
    return bool(before) and before[-1].call is not None and before[-1].call.method == "eval"


NET = net(
    "one = nn.Conv2d(3, 8, 3)",
    "two = nn.Conv2d(8, 8, 3)",
    "bn = nn.BatchNorm2d(8)",
    "bn2 = nn.BatchNorm2d(8)",
    given="x, y",
)


class BatchNormShared(StaticRule, code="S334", cause="LYR-NORM-STATS", preview=True):
    """One batch norm layer normalises the outputs of two different layers.

    Batch norm keeps a running mean and variance for evaluation. Two layers have different ones; a shared layer keeps a mixture that fits
    neither, so the network is good in training and bad in evaluation. Scale and shift are shared as well.

    Make one batch norm layer per place.
    """

    message = "This batch norm already normalises another layer's output, and its running statistics fit neither; create a second one."
    triggers = ("BatchNorm",)

    GOOD = (
        Snippet("one each", NET + "        return self.bn2(self.two(self.bn(self.one(x)).relu()))\n"),
        Snippet("either or", NET + "        h = self.one(x) if y is None else self.two(x)\n        return self.bn(h)\n"),
        Snippet("without statistics", NET.replace("Norm2d(8)", "Norm2d(8, affine=False, track_running_stats=False)") + "        return self.bn(self.two(self.bn(self.one(x)).relu()))\n"),
    )  # fmt: skip
    BAD = (
        Snippet("used twice", NET + "        h = self.bn(self.one(x)).relu()\n        return self.bn(self.two(h))\n", line=14),
        Snippet("in a row of layers", "from torch import nn\n\nnorm = nn.BatchNorm1d(16)\nnet = nn.Sequential(\n    nn.Linear(4, 16), norm, nn.ReLU(),\n    nn.Linear(16, 16), norm, nn.ReLU(),\n"
                "    nn.Linear(16, 2),\n)\nout = net(x)\n", line=3),
    )  # fmt: skip

    def check(self, program: Program) -> Findings:
        first: dict[int, tuple[Op, int]] = {}
        told: set[int] = set()
        for event in program.calls:
            op = operation(event.call)
            if op is None or op.layer is None or not op.name.startswith("batchnorm") or op.layer.keywords:
                continue
            if op.layer.open:
                continue
            source = operation(op.input)
            if source is None or source.layer is None or source.name not in LINEAR_MAPS:
                continue
            known, layer = first.setdefault(id(op.layer), (op, id(source.layer)))
            if layer != id(source.layer) and id(op.layer) not in told and op.layer.node is not None:
                told.add(id(op.layer))
                node = op.layer.node if known.node is op.node else op.node  # the call of a Sequential is both
                yield self.finding(program, node, see=[("It is used here before.", known.node)])
